"""A recording as files: one for each component, its objects by kind and name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from components.errors import PlatformError
from platformctl.render.recorder import Recording, Registration

MARKER = ".rendered"
_FIRST = ("apiVersion", "kind", "metadata")


class _Dumper(yaml.CSafeDumper):
    """Block text for several lines, and no anchors: an object is read on its own."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.CSafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def by_component(recording: Recording) -> dict[str, list[Registration]]:
    """Components in the order in which they come up, the manifests of each by kind and name."""
    grouped: dict[str, list[Registration]] = {}
    for registration in recording.manifests:
        grouped.setdefault(recording.component_of(registration), []).append(registration)
    return {component: sorted(found, key=_kind_and_name) for component, found in grouped.items()}


def _kind_and_name(registration: Registration) -> tuple[str, str]:
    return registration.inputs["kind"], registration.name


def dump(manifests: Iterable[Mapping[str, Any]]) -> str:
    """YAML documents: apiVersion, kind and metadata first, then by name."""
    ordered = [{key: manifest[key] for key in sorted(manifest, key=_position)} for manifest in manifests]
    return yaml.dump_all(ordered, Dumper=_Dumper, sort_keys=False, width=120, explicit_start=True)


def _position(key: str) -> tuple[int, str]:
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)


def write(recording: Recording, directory: Path) -> list[Path]:
    """Writes directory/<component>.yaml and removes what an earlier render left there."""
    _clear(directory)
    files: list[Path] = []
    for component, registrations in by_component(recording).items():
        path = directory / f"{component}.yaml"
        path.write_text(dump(registration.inputs for registration in registrations))
        files.append(path)
    return files


def _clear(directory: Path) -> None:
    """Only a directory that is empty or was written by a render is cleared."""
    if directory.exists() and any(directory.iterdir()) and not (directory / MARKER).exists():
        raise PlatformError(f"{directory} is not empty and was not written by a render; name another directory")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / MARKER).write_text("written by platformctl render, which replaces the whole directory\n")
