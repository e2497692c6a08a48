"""`platformctl secret set` with the real sops and a throw-away age key."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.errors import PlatformError
from components.secrets import Provider, SecretUse, problems
from platformctl import paths
from platformctl.secret import cli
from platformctl.secret.keygen import keygen
from platformctl.secret.request import Registry
from platformctl.secret.sops import Sops

# pyrage is a compiled module without type information
x25519: Any = import_module("pyrage").x25519

FILE = "platform/secrets/dev/cert-manager/token.sops.yaml"
USE = SecretUse(
    namespace="cert-manager", name="token", keys=("user", "password"), provider=Provider.SOPS, needed_by="a test"
)
VALUE = "hunter2-hunter2-hunter2"
RUN = """
import sys
from pathlib import Path
from platformctl import paths
from platformctl.secret import cli
from components.errors import PlatformError

paths.CHECKOUT = Path(sys.argv.pop(1))
sops = Path(sys.argv.pop(1))
cli._sops = lambda root: __import__("platformctl.secret.sops", fromlist=["Sops"]).Sops(binary=sops, root=root)
try:
    cli.app()
except PlatformError as error:
    sys.exit("error: " + str(error))
"""


@pytest.fixture(scope="session")
def sops() -> Path:
    """The pinned sops, or one of a fitting version on PATH."""
    from platformctl.tools import ensure

    return ensure(["sops"])["sops"]


class Household:
    """A checkout with its own keys, and `platformctl secret` in a process of its own."""

    def __init__(self, directory: Path, sops: Path) -> None:
        self.root = directory / "checkout"
        self.home = directory / "home"
        self.temporary = directory / "tmp"
        for path in (self.root, self.home, self.temporary):
            path.mkdir()
        self.sops = sops
        keys = [x25519.Identity.generate() for _ in range(2)]
        self.dev, self.prod = (str(key.to_public()) for key in keys)
        self.key = directory / "dev.agekey"
        self.key.write_text(f"{keys[0]}\n")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(paths.CHECKOUT),
        }
        for stack in ("dev", "prod"):
            (self.root / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
        rule = "  - path_regex: ^platform/secrets/{0}/\n    encrypted_regex: ^(data|stringData)$\n    age: {1}\n"
        rules = rule.format("dev", self.dev) + rule.format("prod", self.prod)
        (self.root / ".sops.yaml").write_text(f"creation_rules:\n{rules}")

    @property
    def file(self) -> Path:
        return self.root / FILE

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", RUN, str(self.root), str(self.sops), *arguments]

    def run(self, *arguments: str, stdin: str | bytes = b"", key: bool = False) -> subprocess.CompletedProcess[bytes]:
        text = stdin.encode() if isinstance(stdin, str) else stdin
        environment = {**self.environment, **({"SOPS_AGE_KEY_FILE": str(self.key)} if key else {})}
        return subprocess.run(
            self.command(*arguments), input=text, env=environment, capture_output=True, timeout=60, check=False
        )

    def set(self, *arguments: str, stdin: str | bytes = b"", key: bool = False, at: str = "cert-manager/token") -> str:
        """Standard error of a run that succeeds."""
        done = self.run("set", at, "--stack", "dev", "--extra", *arguments, stdin=stdin, key=key)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout == b""
        return done.stderr.decode()

    def decrypted(self, file: str = FILE) -> Mapping[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SOPS_AGE_KEY_FILE", str(self.key))
            return Sops(binary=self.sops, root=self.root).decrypt(file)

    def everything(self) -> dict[Path, bytes]:
        """All files that the run could have left, by path."""
        found = [path for base in (self.root, self.home, self.temporary) for path in base.rglob("*")]
        return {path: path.read_bytes() for path in found if path.is_file()}


@pytest.fixture
def household(tmp_path: Path, sops: Path) -> Household:
    return Household(tmp_path, sops)


def test_a_new_secret_is_encrypted_and_decrypts_to_what_was_given(household: Household) -> None:
    said = household.set("--key", "user", "--key", "password", stdin=f"admin\n{VALUE}\n")
    text = household.file.read_text()
    assert " ".join(said.split()).startswith(f"{FILE}: user, password set and encrypted")
    assert household.decrypted() == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": "cert-manager"},
        "type": "Opaque",
        "stringData": {"user": "admin", "password": VALUE},
    }
    clear = yaml.safe_load(text)
    assert (clear["kind"], clear["metadata"]["name"]) == ("Secret", "token")
    assert [entry["recipient"] for entry in clear["sops"]["age"]] == [household.dev]
    assert problems(household.root, "dev", [USE]) == []


def test_the_plain_value_is_in_no_file_argument_environment_or_output(household: Household, tmp_path: Path) -> None:
    # Stands before sops, and looks around while the value is on its way.
    report = tmp_path / "seen"
    wrapper = tmp_path / "sops-wrapper"
    looked = " ".join(str(path) for path in (household.root, household.home, household.temporary))
    wrapper.write_text(
        f"#!/bin/sh\n{{ printf '%s\\n' \"$@\"; env; cat /proc/$PPID/cmdline; find {looked} -type f -exec cat {{}} +; }}"
        f' > {report}\nexec {household.sops} "$@"\n'
    )
    wrapper.chmod(0o755)
    household.sops, real = wrapper, household.sops
    said = household.set("--key", "user", "--key", "password", stdin=f"admin\n{VALUE}\n")
    household.sops = real
    assert household.decrypted()["stringData"]["password"] == VALUE
    assert "--filename-override" in report.read_text()
    assert VALUE not in report.read_text()
    assert VALUE not in said
    assert [path for path, content in household.everything().items() if VALUE.encode() in content] == []
    assert list(household.temporary.iterdir()) == []
    assert [path.name for path in household.file.parent.iterdir()] == ["token.sops.yaml"]


class TestUpdate:
    @pytest.fixture(autouse=True)
    def existing(self, household: Household) -> None:
        household.set("--key", "user", "--key", "password", stdin="admin\nold\n")

    def test_one_key_is_replaced_and_the_other_kept(self, household: Household) -> None:
        household.set("--key", "password", stdin=f"{VALUE}\n", key=True)
        assert household.decrypted()["stringData"] == {"user": "admin", "password": VALUE}

    def test_labels_and_type_are_kept(self, household: Household) -> None:
        text = household.file.read_text().replace("name: token", "name: token\n    labels: {team: home}")
        household.file.write_text(text.replace("type: Opaque", "type: example.org/login"))
        household.set("--key", "user", "--key", "password", stdin="a\nb\n")
        document = household.decrypted()
        assert document["metadata"]["labels"] == {"team": "home"}
        assert document["type"] == "example.org/login"
        assert document["stringData"] == {"user": "a", "password": "b"}

    def test_without_the_key_nothing_changes_and_the_ways_out_are_named(self, household: Household) -> None:
        before = household.everything()
        done = household.run("set", "cert-manager/token", "-s", "dev", "--extra", "--key", "password", stdin=VALUE)
        assert done.returncode == 1
        said = done.stderr.decode()
        assert f"{FILE}: to keep user the file must be decrypted, but no age key at hand fits it" in said
        assert "SOPS_AGE_KEY_FILE" in said
        assert "--key password --key user" in said
        assert "Traceback" not in said
        assert household.everything() == before

    def test_a_file_changed_by_hand_is_not_trusted(self, household: Household) -> None:
        household.file.write_text(household.file.read_text().replace("type: Opaque", "type: other"))
        before = household.file.read_text()
        done = household.run("set", "cert-manager/token", "-s", "dev", "--extra", "--key", "user", stdin="x", key=True)
        assert done.returncode == 1
        assert "MAC mismatch" in done.stderr.decode()
        assert household.file.read_text() == before

    def test_all_keys_need_no_age_key(self, household: Household) -> None:
        household.set("--key", "user", "--key", "password", stdin=f"new\n{VALUE}\n")
        assert household.decrypted()["stringData"] == {"user": "new", "password": VALUE}

    def test_after_keygen_the_file_is_for_the_new_key_alone(self, household: Household, tmp_path: Path) -> None:
        new = tmp_path / "new.agekey"
        keygen(household.root, "dev", new)
        (sentence,) = problems(household.root, "dev", [USE])
        assert "is encrypted for" in sentence
        household.set("--key", "user", "--key", "password", stdin=f"new\n{VALUE}\n")
        assert problems(household.root, "dev", [USE]) == []
        with pytest.raises(PlatformError, match="no age key at hand fits"):
            household.decrypted()
        household.key = new
        assert household.decrypted()["stringData"]["password"] == VALUE


@pytest.mark.parametrize(
    "value",
    ["yes", "null", "1e3", "0o17", "012", "2020-01-01", "~", "ENC[x]",
     "a: b #c", "'\"\\", "{{x}} ${Y}", "ü€ \t", "- a\n- b\n", " x ", "\x07"],
)  # fmt: skip
def test_every_text_comes_back_as_the_same_text(household: Household, value: str) -> None:
    household.set("--key", "user", stdin=value)
    assert household.decrypted()["stringData"] == {"user": value}
    # What kustomize reads after Flux decrypted the file.
    command = [str(household.sops), "decrypt", str(household.file)]
    environment = {**household.environment, "SOPS_AGE_KEY_FILE": str(household.key)}
    plain = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60).stdout
    assert yaml.safe_load(plain)["stringData"] == {"user": value}


def test_keys_with_special_characters_and_bytes_from_a_file(household: Household, tmp_path: Path) -> None:
    keystore = tmp_path / "store.p12"
    keystore.write_bytes(b"\x00\xff\xfe")
    household.set(
        "--key", ".dockerconfigjson", "--key", "tls.key_1-a", "--from-file", f"n={keystore}",
        stdin='{"auths": {}}\nx\n', at="blog/login",
    )  # fmt: skip
    document = household.decrypted("platform/secrets/dev/blog/login.sops.yaml")
    assert document["stringData"] == {".dockerconfigjson": '{"auths": {}}', "tls.key_1-a": "x"}
    assert document["data"] == {"n": "AP/+"}
    household.set("--key", "n", stdin="text\n", at="blog/login", key=True)
    document = household.decrypted("platform/secrets/dev/blog/login.sops.yaml")
    assert "data" not in document
    assert document["stringData"]["n"] == "text"


def test_the_prompt_does_not_echo(household: Household) -> None:
    command = household.command("set", "cert-manager/token", "-s", "dev", "--extra", "--key", "user")
    said = _on_a_terminal(command, household.environment, f"{VALUE}\n".encode(), prompt=b"user (not shown): ")
    assert VALUE.encode() not in said
    assert household.decrypted()["stringData"] == {"user": VALUE}


def _on_a_terminal(command: list[str], environment: Mapping[str, str], typed: bytes, prompt: bytes) -> bytes:
    """Everything that the terminal shows; `typed` is entered once the prompt stands there."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, environment)  # noqa: S606 - the command is the test's own
    shown, sent = b"", False
    try:
        while chunk := _read(terminal):
            shown += chunk
            if prompt in shown and not sent:
                os.write(terminal, typed)
                sent = True
    finally:
        os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert sent and os.waitstatus_to_exitcode(status) == 0, shown
    return shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


def test_what_is_committed_is_in_order() -> None:
    registry: Registry = cli._registry()
    for stack in ("dev", "prod"):
        assert problems(paths.CHECKOUT, stack, registry.uses) == []
    committed = [yaml.safe_load(path.read_text()) for path in (paths.CHECKOUT / "platform").rglob("*.sops.yaml")]
    assert {document["kind"] for document in committed} == {"Secret"}
