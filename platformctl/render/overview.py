"""What a stack declares at a glance: components, versions and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from platformctl.render.manifests import by_component
from platformctl.render.recorder import Recording, Registration


@dataclass(frozen=True, kw_only=True)
class Row:
    """One component: how many objects it declares, and the versions that it pins."""

    component: str
    objects: int
    version: str


def rows(recording: Recording) -> list[Row]:
    """A row for each component in the order in which it comes up."""
    return [
        Row(component=component, objects=len(manifests), version=_version(manifests))
        for component, manifests in by_component(recording).items()
    ]


def table(recording: Recording) -> Table:
    """The rows for a terminal."""
    domain = recording.exports.get("domain", "")
    result = Table(title=f"stack {recording.stack}: {domain}", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("component", "objects", "version"):
        result.add_column(heading, justify="right" if heading == "objects" else "left")
    for row in rows(recording):
        result.add_row(row.component, str(row.objects), row.version)
    return result


def _version(manifests: list[Registration]) -> str:
    found = [version for version in map(_pinned, manifests) if version]
    return ", ".join(dict.fromkeys(found))


def _pinned(registration: Registration) -> str:
    spec: Mapping[str, Any] = registration.inputs.get("spec", {})
    match registration.inputs["kind"]:
        case "FluxInstance":
            return f"flux {spec['distribution']['version']}"
        case "OCIRepository":
            reference = spec["ref"]
            return f"{registration.inputs['metadata']['name']} {reference.get('tag') or reference.get('digest')}"
        case "HelmRelease" if "chart" in spec:
            return f"{spec['chart']['spec']['chart']} {spec['chart']['spec']['version']}"
        case _:
            return ""
