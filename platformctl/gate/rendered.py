"""Checks of what the program declares: it renders, its objects fit their CRDs, and the goldens show them."""

from __future__ import annotations

import difflib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from components import upstream
from components.objects import Manifest
from platformctl.gate.model import Finding
from platformctl.local import crds
from platformctl.paths import CHECKOUT
from platformctl.render import manifests
from platformctl.render.recorder import Recording, record
from platformctl.render.schema import Schemas
from platformctl.stackfile import stack_config, stacks

GOLDEN = CHECKOUT / "tests" / "golden"
# Nothing of the first is ours, and of the second cilium takes only the standard channel.
_OTHERS = ("kwok", "gateway-api-experimental")
# Groups that end like those of Kubernetes itself, and are custom all the same.
_CUSTOM_GROUPS = ("gateway.networking.k8s.io", "snapshot.storage.k8s.io")
_DIFF_LINES = 40


@functools.cache
def recordings() -> Mapping[str, Recording]:
    """Every stack under the recorder, once in a process. Raises PlatformError with the user's mistakes."""
    return {stack: record(stack_config(stack, assume_secrets=True)) for stack in stacks()}


@functools.cache
def bundles() -> tuple[crds.CrdBundle, ...]:
    """The CRDs that our custom resources are held against."""
    return tuple(crds.bundle(name) for name in crds.NAMES if name not in _OTHERS)


def rendering() -> Finding:
    """Every stack renders: its values, contracts, secret references and definitions are without mistakes."""
    unseen = dict.fromkeys(message for recording in recordings().values() for message in recording.messages)
    return Finding(unseen=tuple(unseen))


def custom_resources() -> Finding:
    """Every custom resource of every stack against the schema of its CRD."""
    schemas = Schemas(definition for bundle in bundles() for definition in bundle.objects)
    free = _groups(bundle for bundle in bundles() if bundle.schema_free)
    problems: dict[str, None] = {}
    for stack, recording in recordings().items():
        for found in recording.manifests:
            problems |= dict.fromkeys(f"{stack}: {said}" for said in violations(found.inputs, schemas, free))
    return Finding(problems=tuple(problems), unseen=tuple(bundle.note for bundle in bundles() if bundle.schema_free))


def violations(manifest: Manifest, schemas: Schemas, free: Iterable[str] = ()) -> list[str]:
    """What the schema says; a kind without one is a mistake, unless its group is among `free`."""
    if not is_custom(manifest["apiVersion"]):
        return []
    if manifest in schemas:
        return schemas.violations(manifest)
    if _group(manifest["apiVersion"]) in free:
        return []
    return [f"{manifest['kind']} {manifest['metadata']['name']}: no CRD has {manifest['apiVersion']}"]


def is_custom(api_version: str) -> bool:
    """Whether a CRD brings the kind, and not Kubernetes itself."""
    group = _group(api_version)
    return "." in group and (not group.endswith(".k8s.io") or group in _CUSTOM_GROUPS)


def goldens() -> Finding:
    """tests/golden against what is rendered now, one diff for each file."""
    return Finding(
        problems=tuple(
            difference
            for stack, recording in recordings().items()
            for difference in _differences(golden_files(GOLDEN / stack), rendered_files(recording), f"golden/{stack}")
        )
    )


def golden_files(directory: Path) -> dict[str, str]:
    """The committed files by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.yaml"))}


def rendered_files(recording: Recording) -> dict[str, str]:
    """What the goldens must hold: a file for each component, without upstream's own, which a sha256 pins."""
    locked = upstream.locked()
    return {
        f"{component}.yaml": manifests.dump(found.inputs for found in registrations)
        for component, registrations in manifests.by_component(recording).items()
        if component not in locked
    }


def _differences(golden: Mapping[str, str], rendered: Mapping[str, str], at: str) -> Iterator[str]:
    for name in sorted(golden.keys() | rendered.keys()):
        old, new = golden.get(name, "").splitlines(), rendered.get(name, "").splitlines()
        lines = list(difflib.unified_diff(old, new, f"{at}/{name}", f"rendered/{name}", lineterm="", n=1))
        if lines:
            cut = [f"… {len(lines) - _DIFF_LINES} more lines"] if len(lines) > _DIFF_LINES else []
            yield "\n".join([*itertools.islice(lines, _DIFF_LINES), *cut])


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def _groups(found: Iterable[crds.CrdBundle]) -> set[str]:
    return {definition["spec"]["group"] for bundle in found for definition in bundle.objects}
