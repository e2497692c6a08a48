"""The policies as the kyverno CLI judges them: what we render passes, and each policy stops what it should."""

from __future__ import annotations

import re
from typing import Literal

import pytest

from components import upstream
from components.objects import Manifest
from platformctl.gate.kyverno import Kyverno, Verdict
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording
from platformctl.tools import ensure

FIXTURES = CHECKOUT / "tests" / "policies"
POLICIES = sorted(path.stem for path in (CHECKOUT / "policies").glob("*.yaml"))
STACKS = ("dev", "prod")
# It looks at changes, and at who makes them; every other policy looks at what is created.
GUARD = "platform-is-declared"
DEPLOYER = {"username": "platform-deploy", "groups": ["system:authenticated"]}
PERSON = {"username": "keith", "groups": ["system:authenticated"]}
# The first run builds the CLI, which takes some minutes.
pytestmark = pytest.mark.timeout(1500)


@pytest.fixture(scope="module")
def kyverno(tmp_path_factory: pytest.TempPathFactory) -> Kyverno:
    """The pinned CLI, built on first use."""
    return Kyverno(executable=ensure(["kyverno"])["kyverno"], scratch=tmp_path_factory.mktemp("kyverno"))


@pytest.fixture(scope="module", params=STACKS)
def bad(request: pytest.FixtureRequest, recordings: dict[str, Recording], kyverno: Kyverno) -> tuple[Verdict, str]:
    """Every bad object under every policy of a stack, and the stack's domain."""
    recording = recordings[request.param]
    domain = recording.exports["domain"]
    found = [manifest for policy in POLICIES if policy != GUARD for manifest in objects("bad", policy, domain)]
    return kyverno.apply(policies(recording), found), domain


def rendered(recording: Recording) -> list[Manifest]:
    return [found.inputs for found in recording.manifests]


def policies(recording: Recording, name: str | None = None) -> list[Manifest]:
    """As they are rendered for the stack; all of them, or the one of that name."""
    found = [manifest for manifest in rendered(recording) if manifest["kind"] == "ValidatingPolicy"]
    return [policy for policy in found if name in (None, policy["metadata"]["name"])]


def text(kind: Literal["bad", "good"], policy: str, domain: str) -> str:
    return (FIXTURES / kind / f"{policy}.yaml").read_text().replace("dev.home.example.org", domain)


def objects(kind: Literal["bad", "good"], policy: str, domain: str) -> list[Manifest]:
    return list(upstream.parse(text(kind, policy, domain).encode()))


def expected(policy: str, domain: str) -> list[str]:
    """The beginnings of the sentences that a bad fixture must cause, one for each of its objects."""
    return re.findall(r"^# expect: (.+)$", text("bad", policy, domain), re.MULTILINE)


def test_every_policy_has_both_fixtures() -> None:
    for kind in ("bad", "good"):
        assert sorted(path.stem for path in (FIXTURES / kind).glob("*.yaml")) == POLICIES


@pytest.mark.parametrize("stack", STACKS)
def test_everything_that_is_rendered_passes(stack: str, recordings: dict[str, Recording], kyverno: Kyverno) -> None:
    found = rendered(recordings[stack])
    verdict = kyverno.apply(policies(recordings[stack]), found)
    assert f"to {len(found)} resource(s)" in verdict.output
    assert (verdict.failed, verdict.errors) == (0, 0), verdict.output
    assert verdict.passed > 0, "no policy looked at anything, so nothing was tested"


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != GUARD])
def test_a_bad_object_is_stopped_with_the_policys_message(policy: str, bad: tuple[Verdict, str]) -> None:
    verdict, domain = bad
    said, wanted = verdict.failures[policy], expected(policy, domain)
    assert len(said) == len(wanted) == len(objects("bad", policy, domain))
    for sentence in wanted:
        assert [message for message in said.values() if message.startswith(sentence)], (sentence, said)


def test_a_bad_object_breaks_one_policy_only(bad: tuple[Verdict, str]) -> None:
    verdict, domain = bad
    count = sum(len(objects("bad", policy, domain)) for policy in POLICIES if policy != GUARD)
    assert (verdict.failed, verdict.errors) == (count, 0), verdict.output


def test_the_good_twins_pass_every_policy(recordings: dict[str, Recording], kyverno: Kyverno) -> None:
    domain = recordings["dev"].exports["domain"]
    found = [manifest for policy in POLICIES for manifest in objects("good", policy, domain)]
    verdict = kyverno.apply(policies(recordings["dev"]), found)
    assert (verdict.failed, verdict.errors) == (0, 0), verdict.output
    assert verdict.passed >= len(POLICIES), "a policy looked at none of them, so nothing was tested"


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
def test_a_person_does_not_change_the_platform(
    operation: Literal["UPDATE", "DELETE"], recordings: dict[str, Recording], kyverno: Kyverno
) -> None:
    domain = recordings["prod"].exports["domain"]
    guard, found = policies(recordings["prod"], GUARD), objects("bad", GUARD, domain)
    verdict = kyverno.apply(guard, found, operation=operation, user=PERSON)
    (sentence,) = expected(GUARD, domain)
    assert list(verdict.failures[GUARD].values()) == [sentence]
    assert (verdict.failed, verdict.errors) == (len(found), 0), verdict.output


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
def test_the_deploy_identity_does(
    operation: Literal["UPDATE", "DELETE"], recordings: dict[str, Recording], kyverno: Kyverno
) -> None:
    found = objects("bad", GUARD, "")
    verdict = kyverno.apply(policies(recordings["prod"], GUARD), found, operation=operation, user=DEPLOYER)
    assert (verdict.passed, verdict.failed, verdict.errors) == (len(found), 0, 0), verdict.output


def test_a_person_changes_what_is_not_the_platforms(recordings: dict[str, Recording], kyverno: Kyverno) -> None:
    found = objects("good", GUARD, "")
    verdict = kyverno.apply(policies(recordings["prod"], GUARD), found, operation="UPDATE", user=PERSON)
    assert (verdict.failed, verdict.errors) == (0, 0), verdict.output
    assert verdict.passed > 0, "the policy looked at none of it, so nothing was tested"
