"""kyverno and the policies as they are rendered: exemptions, parameters, and what keeps the cluster from a lockout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components import policy_files
from components.errors import PlatformError
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording
from tests.graph import resource

STACKS = ("dev", "prod")
POLICIES = sorted(path.stem for path in (CHECKOUT / "policies").glob("*.yaml"))
IN_THE_API_SERVER = {"platform-is-declared", "routes-under-domain"}
NAME = "kubernetes.io/metadata.name"


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def policy(recording: Recording, name: str) -> dict[str, Any]:
    return resource(recording, "ValidatingPolicy", name).inputs["spec"]


def platform_namespaces(recording: Recording) -> set[str]:
    declared = {found.name for found in recording.manifests if found.inputs["kind"] == "Namespace"}
    return {"kube-system", *declared}


def selector(spec: Any) -> tuple[str, set[str]]:
    (expression,) = spec["namespaceSelector"]["matchExpressions"]
    assert expression["key"] == NAME
    return expression["operator"], set(expression["values"])


def test_kyverno_is_not_asked_about_the_platforms_own_namespaces(recording: Recording) -> None:
    """Otherwise the network or the storage could wait for kyverno, and kyverno for them."""
    values = resource(recording, "HelmRelease", "kyverno").inputs["spec"]["values"]
    assert selector(values["config"]["webhooks"]) == ("NotIn", platform_namespaces(recording))
    assert values["features"]["excludeBootstrapResources"] == {"enabled": True}


def test_one_replica_never_fails_closed(recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        values = resource(recording, "HelmRelease", "kyverno").inputs["spec"]["values"]
        fails_open = values["features"]["forceFailurePolicyIgnore"]["enabled"]
        assert fails_open or values["admissionController"]["replicas"] >= 3


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in IN_THE_API_SERVER])
def test_a_policy_for_workloads_exempts_the_platform_by_name(name: str, recording: Recording) -> None:
    assert selector(policy(recording, name)["matchConstraints"]) == ("NotIn", platform_namespaces(recording))


def test_the_guard_holds_in_the_platform_and_inside_the_api_server(recording: Recording) -> None:
    spec = policy(recording, "platform-is-declared")
    assert selector(spec["matchConstraints"]) == ("In", platform_namespaces(recording))
    assert spec["autogen"]["validatingAdmissionPolicy"] == {"enabled": True}


def test_routes_are_judged_everywhere_and_inside_the_api_server(recording: Recording) -> None:
    spec = policy(recording, "routes-under-domain")
    assert "namespaceSelector" not in spec["matchConstraints"]
    assert spec["autogen"]["validatingAdmissionPolicy"] == {"enabled": True}
    assert {"name": "domain", "expression": f'"{recording.exports["domain"]}"'} in spec["variables"]


def test_every_policy_denies_and_says_whether_it_fails_open(recording: Recording) -> None:
    for name in POLICIES:
        spec = policy(recording, name)
        assert spec["validationActions"] == ["Deny"]
        assert spec["failurePolicy"] in ("Fail", "Ignore")
        assert "${" not in str(spec)


def test_every_declared_object_carries_a_label_that_the_guard_looks_for(recording: Recording) -> None:
    managers = {found.inputs["metadata"]["labels"]["app.kubernetes.io/managed-by"] for found in recording.manifests}
    assert managers <= {"pulumi", "cdi-operator"}
    assert "pulumi" in managers


class TestPolicyFiles:
    """`${name}` in a policy file."""

    def write(self, directory: Path, document: Any) -> Path:
        (directory / "a-policy.yaml").write_text(yaml.safe_dump(document))
        return directory

    def test_in_an_expression_it_becomes_a_literal(self, tmp_path: Path) -> None:
        found = policy_files.load(self.write(tmp_path, {"expression": "user in ${users}"}), {"users": ["a", 'b"c']})
        assert found == [{"expression": 'user in ["a", "b\\"c"]'}]

    def test_as_a_list_item_it_becomes_the_items(self, tmp_path: Path) -> None:
        found = policy_files.load(
            self.write(tmp_path, {"values": ["x", "${names}", "${one}"]}), {"names": ["a", "b"], "one": "c"}
        )
        assert found == [{"values": ["x", "a", "b", "c"]}]

    def test_an_unknown_name_is_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(
            PlatformError, match=r"policies/a-policy.yaml: \$\{domian\} is no parameter .* there are domain"
        ):
            policy_files.load(self.write(tmp_path, {"expression": "${domian}"}), {"domain": "example.org"})
