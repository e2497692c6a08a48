"""The rendered backup location against an S3: what Velero's plugin makes of it can put, list, get and delete.

`plugin_client` follows velero-plugin-for-aws: the keys that it knows, text only, Go's booleans, its checksums.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

from tests.altered import recorded
from tests.graph import resource
from tests.s3_server import Account, Store

Values = dict[str, Any]
Secrets = dict[str, dict[str, str]]

KNOWN_KEYS = {
    *("region", "s3Url", "publicUrl", "kmsKeyId", "customerKeyEncryptionFile", "customerKeyEncryptionSecret"),
    *("s3ForcePathStyle", "signatureVersion", "credentialsFile", "profile", "serverSideEncryption"),
    *("insecureSkipTLSVerify", "enableSharedConfig", "tagging", "checksumAlgorithm"),
}
GO_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
PART = 5 * 1024 * 1024
SECRET_NAME = "velero-s3"
ACCESS_KEY, SECRET_KEY = "AKIAHOUSEHOLD", "not/a+real=secret"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A store, what is rendered for it, and the Secrets of namespace velero."""

    store: Store
    values: Values
    secrets: Secrets


@pytest.fixture(scope="module", params=[("dev", "us-east-1"), ("prod", "us-east-1"), ("prod", "eu-central-1")], ids=str)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The stack as it is, but for the S3's address, and for the region once."""
    stack, region = request.param
    settings = recorded(stack, {})
    location = rendered(settings)["configuration"]["backupStorageLocation"][0]
    account = Account(
        access_key=ACCESS_KEY,
        secret_key=SECRET_KEY,
        region=region,
        bucket=location["bucket"],
        prefix=location["prefix"],
    )
    store = Store(account=account)
    values = rendered(recorded(stack, {"velero": {"s3": {"url": store.url, "region": region}}}))
    yield Target(store=store, values=values, secrets={SECRET_NAME: {"cloud": ini()}})
    store.close()


@pytest.fixture(autouse=True)
def no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)


def rendered(recording: Any) -> Values:
    return resource(recording, "HelmRelease", "velero").inputs["spec"]["values"]


def ini(header: str = "[default]", access_key: str = ACCESS_KEY, secret_key: str = SECRET_KEY) -> str:
    """As `platformctl secret set velero/velero-s3` is given it."""
    return f"{header}\naws_access_key_id={access_key}\naws_secret_access_key={secret_key}\n"


def the_location(values: Values) -> Values:
    """The one default location; the chart renders a list, and Velero has one plugin."""
    locations = values["configuration"]["backupStorageLocation"]
    assert isinstance(locations, list), "backupStorageLocation is not a list"
    (location,) = [each for each in locations if each["default"] is True]
    assert location["provider"] == "aws", f"no plugin serves provider {location['provider']}"
    return location


def plugin_config(location: Values) -> Mapping[str, str]:
    config = location["config"]
    assert all(isinstance(value, str) for value in config.values()), "the API server takes text alone"
    unknown = sorted(set(config) - KNOWN_KEYS)
    assert not unknown, f"config has invalid keys {unknown}"
    style = config.get("s3ForcePathStyle", "")
    assert style == "" or style in GO_BOOLEANS, "could not parse s3ForcePathStyle"
    assert config.get("region"), "missing region"
    return config


def plugin_client(values: Values, secrets: Secrets, store: Store, directory: Path) -> Any:
    """The client of the location; it reaches nothing but the store, whatever the location says."""
    config = plugin_config(the_location(values))
    credentials = directory / "cloud"
    assert values["credentials"]["useSecret"] is True
    mounted = secrets[values["credentials"]["existingSecret"]]
    credentials.write_text(mounted["cloud"])
    session = botocore.session.Session()
    session.set_config_variable("credentials_file", str(credentials))
    session.set_config_variable("config_file", str(directory / "none"))
    session.set_config_variable("profile", config.get("profile", "default"))
    path_style = GO_BOOLEANS.get(config.get("s3ForcePathStyle", ""), False)
    checksums = "when_supported" if config.get("checksumAlgorithm", "CRC32") else "when_required"
    client = boto3.Session(botocore_session=session).client(
        "s3",
        endpoint_url=config.get("s3Url"),
        region_name=config["region"],
        config=Config(
            s3={"addressing_style": "path" if path_style else "virtual"},
            request_checksum_calculation=checksums,
            response_checksum_validation="when_required",
            retries={"total_max_attempts": 1},
        ),
    )
    client.meta.events.register("before-send.s3", only(store.host))
    return client


def only(host: str) -> Callable[..., None]:
    def guard(request: Any, **_: Any) -> None:
        assert request.url.startswith(f"http://{host}/"), f"{request.url} is not the household's S3"

    return guard


def use(target: Target, directory: Path) -> None:
    """What a backup does: a small and a large object, a list, reading, expiry."""
    location = the_location(target.values)
    bucket, prefix = location["bucket"], location.get("prefix")
    client = plugin_client(target.values, target.secrets, target.store, directory)
    below = f"{prefix}/backups/" if prefix else "backups/"
    small, large = f"{below}daily-1/velero-backup.json", f"{below}daily-1/daily-1.tar.gz"
    client.put_object(Bucket=bucket, Key=small, Body=b"{}")
    (directory / "large").write_bytes(b"\x1f\x8b" + bytes(PART + 1))
    parts = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART)
    client.upload_file(str(directory / "large"), bucket, large, Config=parts)
    listed = client.list_objects_v2(Bucket=bucket, Prefix=below, Delimiter="/")
    assert [found["Prefix"] for found in listed["CommonPrefixes"]] == [f"{below}daily-1/"]
    assert client.get_object(Bucket=bucket, Key=small)["Body"].read() == b"{}"
    assert client.get_object(Bucket=bucket, Key=large)["Body"].read() == (directory / "large").read_bytes()
    for key in (small, large):
        client.delete_object(Bucket=bucket, Key=key)
    assert "Contents" not in client.list_objects_v2(Bucket=bucket, Prefix=below)


def test_the_rendered_location_is_usable(target: Target, tmp_path: Path) -> None:
    target.store.requests.clear()
    use(target, tmp_path)
    account = target.store.account
    assert {method for method, _ in target.store.requests} == {"PUT", "POST", "GET", "DELETE"}
    for method, path in target.store.requests:
        is_list = method == "GET" and path == f"/{account.bucket}"
        assert is_list or path.startswith(f"/{account.bucket}/{account.prefix}/"), path


def location(**changes: Any) -> Callable[[Values], None]:
    """Sets keys of the location; None takes a key away."""
    return lambda values: changed(values["configuration"]["backupStorageLocation"][0], changes)


def config(**changes: Any) -> Callable[[Values], None]:
    return lambda values: changed(values["configuration"]["backupStorageLocation"][0]["config"], changes)


def renamed(old: str, new: str) -> Callable[[Values], None]:
    def change(values: Values) -> None:
        options = values["configuration"]["backupStorageLocation"][0]["config"]
        options[new] = options.pop(old)

    return change


def changed(mapping: Values, changes: Mapping[str, Any]) -> None:
    mapping.update(changes)
    for key in [key for key, value in changes.items() if value is None]:
        del mapping[key]


def as_a_map(values: Values) -> None:
    values["configuration"]["backupStorageLocation"] = values["configuration"]["backupStorageLocation"][0]


def other_secret(values: Values) -> None:
    values["credentials"]["existingSecret"] = "velero"


BROKEN_VALUES: dict[str, tuple[Callable[[Values], None], str]] = {
    "s3Url misspelt": (renamed("s3Url", "s3URL"), "invalid keys.*s3URL"),
    "s3Url missing": (config(s3Url=None), "amazonaws.com.* is not the household's S3"),
    "s3Url of another host": (config(s3Url="http://127.0.0.1:1"), "is not the household's S3"),
    "region misspelt": (renamed("region", "Region"), "invalid keys.*Region"),
    "region missing": (config(region=None), "missing region"),
    "region empty": (config(region=""), "missing region"),
    "region of another bucket": (config(region="eu-west-1"), "AuthorizationHeaderMalformed"),
    "path style misspelt": (renamed("s3ForcePathStyle", "forcePathStyle"), "invalid keys.*forcePathStyle"),
    "path style as a boolean": (config(s3ForcePathStyle=True), "takes text alone"),
    "path style in words": (config(s3ForcePathStyle="yes"), "could not parse s3ForcePathStyle"),
    "path style off": (config(s3ForcePathStyle="false"), r"//[a-z-]+\.localhost.* is not the household's S3"),
    "path style missing": (config(s3ForcePathStyle=None), r"//[a-z-]+\.localhost.* is not the household's S3"),
    "checksum misspelt": (renamed("checksumAlgorithm", "checksumAlgorythm"), "invalid keys"),
    "checksum missing": (config(checksumAlgorithm=None), "NotImplemented"),
    "checksum of AWS": (config(checksumAlgorithm="CRC32"), "NotImplemented"),
    "another bucket": (location(bucket="elsewhere"), "AccessDenied"),
    "another prefix": (location(prefix="elsewhere"), "AccessDenied"),
    "no prefix": (location(prefix=None), "AccessDenied"),
    "another provider": (location(provider="s3"), "no plugin serves provider s3"),
    "a map in place of the list": (as_a_map, "not a list"),
    "another Secret": (other_secret, "^'velero'$"),
}
BROKEN_SECRETS: dict[str, tuple[Secrets, str]] = {
    "another key": ({SECRET_NAME: {"credentials": ini()}}, "^'cloud'$"),
    "no header": ({SECRET_NAME: {"cloud": ini(header="")}}, "(?i)unable to (parse|locate)"),
    "another profile": ({SECRET_NAME: {"cloud": ini(header="[velero]")}}, "(?i)profile|unable to locate"),
    "quoted values": ({SECRET_NAME: {"cloud": ini(access_key=f'"{ACCESS_KEY}"')}}, "InvalidAccessKeyId"),
    "another access key": ({SECRET_NAME: {"cloud": ini(access_key="AKIAOTHER")}}, "InvalidAccessKeyId"),
    "another secret key": ({SECRET_NAME: {"cloud": ini(secret_key="other")}}, "SignatureDoesNotMatch"),
    "the placeholder": ({SECRET_NAME: {"cloud": ini("[default]", "replace-me", "replace-me")}}, "InvalidAccessKeyId"),
}


@pytest.mark.parametrize("name", BROKEN_VALUES)
def test_a_wrong_value_is_found(target: Target, tmp_path: Path, name: str) -> None:
    change, message = BROKEN_VALUES[name]
    values = copy.deepcopy(target.values)
    change(values)
    assert values != target.values
    with pytest.raises(Exception, match=message):
        use(Target(store=target.store, values=values, secrets=target.secrets), tmp_path)


@pytest.mark.parametrize("name", BROKEN_SECRETS)
def test_a_wrong_secret_is_found(target: Target, tmp_path: Path, name: str) -> None:
    secrets, message = BROKEN_SECRETS[name]
    with pytest.raises(Exception, match=message):
        use(Target(store=target.store, values=target.values, secrets=secrets), tmp_path)


def test_aws_itself_needs_no_more_than_the_region() -> None:
    values = rendered(recorded("prod", {"velero": {"s3": {"url": None}}}))
    assert the_location(values)["config"] == {"region": "us-east-1"}
