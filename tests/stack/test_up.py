"""`up` on a cluster that holds nothing, and everything that must hold afterwards."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.errors import PlatformError
from platformctl.local.api import KubeApi
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording
from tests.graph import REQUIRED_ORDER, Order, left_out, members
from tests.stack.conftest import Deployed
from tests.stack.engine_run import UP

pytestmark = pytest.mark.cluster


def test_every_declared_object_is_in_the_cluster(dev: Deployed, recordings: dict[str, Recording]) -> None:
    with dev.target.cluster.api() as api:
        for found in recordings["dev"].manifests:
            assert _live(api, found.inputs)["metadata"]["uid"], found.name


def test_what_is_simulated_says_so(dev: Deployed) -> None:
    with dev.target.cluster.api() as api:
        for api_version, kind in (
            ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
            ("cert-manager.io/v1", "ClusterIssuer"),
        ):
            for item in api.list(api_version, kind):
                ready = _ready(item)
                assert ready["status"] == "True"
                assert "simulated" in ready["message"]


def test_the_state_holds_the_whole_stack(dev: Deployed, recordings: dict[str, Recording]) -> None:
    exported = json.loads(dev.target.engine.run(["pulumi", "stack", "export", "--stack=dev"]))
    names = {resource["urn"].split("::")[-1] for resource in exported["deployment"]["resources"]}
    assert {found.name for found in recordings["dev"].registrations} <= names
    assert not exported["deployment"].get("pending_operations")


@pytest.mark.parametrize("edge", REQUIRED_ORDER, ids=lambda edge: f"{edge.before} before {edge.after}")
def test_nothing_was_created_before_what_it_needs_was_ready(
    dev: Deployed, recordings: dict[str, Recording], edge: Order
) -> None:
    recording = recordings["dev"]
    if reason := left_out(recording, edge):
        pytest.skip(reason)
    with dev.target.cluster.api() as api:
        finished = max(_finished(_live(api, found.inputs)) for found in members(recording, edge.before))
        created = min(_created(_live(api, found.inputs)) for found in members(recording, edge.after))
    assert finished <= created


def test_a_second_up_changes_nothing(dev: Deployed) -> None:
    outcome = dev.operate(*UP)
    assert outcome.returncode == 0, outcome.output
    assert set(outcome.counts) == {"same"}, outcome.counts


def test_one_changed_value_updates_exactly_what_it_is_for(dev: Deployed) -> None:
    config = dev.target.engine.config_file
    before = config.read_text()
    document = yaml.safe_load(before)
    document["config"]["home:certManager"]["email"] = "night-shift@example.org"
    config.write_text(yaml.safe_dump(document))
    try:
        outcome = dev.operate(*UP)
    finally:
        config.write_text(before)
        restored = dev.operate(*UP)
    assert outcome.returncode == restored.returncode == 0, outcome.output
    expected = {"ClusterIssuer::letsencrypt-staging", "ClusterIssuer::letsencrypt-production"}
    assert outcome.of("update") == restored.of("update") == expected
    assert set(outcome.counts) == {"same", "update"}


def test_no_secret_is_readable_in_state_events_or_output(dev: Deployed) -> None:
    with dev.target.cluster.api() as api:
        token = api.get("v1", "Secret", "receiver-token", "flux-system")["data"]["token"]
        age = api.get("v1", "Secret", "sops-age", "flux-system")["data"]["age.agekey"]
    preview = dev.operate("preview", "--diff")
    exported = dev.target.engine.run(["pulumi", "stack", "export", "--stack=dev"])
    state = "".join(path.read_text() for path in _files(dev.target.engine.directory / "state"))
    seen = [exported, state, preview.output, dev.first_up.output, json.dumps(dev.first_up.events + preview.events)]
    for secret in (*_spellings(token), *_spellings(age)):
        assert [text for text in seen if secret in text] == []


def test_a_mistake_in_the_stack_file_is_one_sentence_and_changes_nothing(dev: Deployed) -> None:
    config = dev.target.engine.config_file
    before = config.read_text()
    config.write_text(before.replace("issuer: staging", "issuer: stagging"))
    try:
        outcome = dev.operate("preview")
    finally:
        config.write_text(before)
    assert outcome.returncode != 0
    assert 'Pulumi.dev.yaml: home:certManager.issuer is "stagging", but must be staging or production' in outcome.output
    assert "Traceback" not in outcome.output


def test_state_is_the_owners_alone_and_the_checkout_stays_as_it_was(dev: Deployed) -> None:
    assert dev.target.cluster.layout.state.stat().st_mode & 0o077 == 0
    assert "encryptionsalt" not in (CHECKOUT / "Pulumi.dev.yaml").read_text()


def test_a_cluster_that_is_not_on_loopback_is_refused(dev: Deployed) -> None:
    kubeconfig = dev.target.cluster.kubeconfig
    before = kubeconfig.read_text()
    kubeconfig.write_text(before.replace("https://127.0.0.1", "https://192.0.2.1"))
    try:
        with pytest.raises(PlatformError, match="not on loopback"):
            dev.target.cluster.api()
    finally:
        kubeconfig.write_text(before)


def _live(api: KubeApi, manifest: Any) -> dict[str, Any]:
    metadata = manifest["metadata"]
    return api.get(manifest["apiVersion"], manifest["kind"], metadata["name"], metadata.get("namespace"))


def _ready(item: dict[str, Any], condition_type: str = "Ready") -> dict[str, str]:
    return next(condition for condition in item["status"]["conditions"] if condition["type"] == condition_type)


def _created(item: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(item["metadata"]["creationTimestamp"])


def _finished(item: dict[str, Any]) -> datetime:
    """When an object was ready, or created where nothing waits for it; whole seconds, as creationTimestamp has them."""
    awaited = item["metadata"].get("annotations", {}).get("pulumi.com/waitFor")
    if awaited:
        condition = _ready(item, awaited.removeprefix("condition="))
        return datetime.fromisoformat(condition["lastTransitionTime"]).replace(microsecond=0)
    return _created(item)


def _files(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file()]


def _spellings(encoded: str) -> tuple[str, str]:
    import base64

    return encoded, base64.b64decode(encoded).decode().strip()
