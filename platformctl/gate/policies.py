"""Our policies on everything that reaches the cluster: what is rendered, and what Flux applies from git."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from components.objects import Manifest
from platformctl.gate.commands import obtain
from platformctl.gate.git_content import applied_objects
from platformctl.gate.kyverno import Kyverno, Verdict
from platformctl.gate.model import Finding
from platformctl.gate.rendered import recordings
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording


def rendered(recording: Recording) -> list[Manifest]:
    """Every object of a stack."""
    return [found.inputs for found in recording.manifests]


def policies(objects: Iterable[Manifest]) -> list[Manifest]:
    """The policies among them."""
    return [manifest for manifest in objects if manifest["kind"] == "ValidatingPolicy"]


def judged() -> Finding:
    """Every policy of each stack on every object of it."""
    executable = obtain("kyverno")
    if isinstance(executable, Finding):
        return executable
    with tempfile.TemporaryDirectory() as scratch:
        kyverno = Kyverno(executable=executable, scratch=Path(scratch))
        return Finding(problems=tuple(said for stack in recordings() for said in _judge(kyverno, stack)))


def _judge(kyverno: Kyverno, stack: str) -> Iterator[str]:
    recording = recordings()[stack]
    declared = rendered(recording)
    # Policies look at no Secret's content, and what sops encrypted is no Secret that Kubernetes would take.
    from_git = [found.manifest for found in applied_objects(CHECKOUT, recording) if found.manifest["kind"] != "Secret"]
    objects = [*declared, *from_git]
    yield from refusals(kyverno.apply(policies(declared), objects), stack, len(objects))


def refusals(verdict: Verdict, stack: str, objects: int) -> Iterator[str]:
    """A sentence for each refused object; an error of a policy, or a run that saw nothing, is one too."""
    for policy, failures in verdict.failures.items():
        yield from (f"{stack}: {judged}: {message} (policy {policy})" for judged, message in failures.items())
    if verdict.errors or verdict.failed != sum(map(len, verdict.failures.values())):
        yield f"{stack}: kyverno failed on an object: {verdict.output.strip()}"
    if verdict.passed == 0 or f"to {objects} resource(s)" not in verdict.output:
        yield f"{stack}: kyverno did not look at all {objects} objects: {verdict.output.strip()}"
