"""Every value that a release sets, held against its pinned chart: most charts ignore a key that they do not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import yaml

from components import upstream
from components.contracts import merged
from platformctl.local import gomodules
from platformctl.render.recorder import Recording

ALLOWANCES = Path(__file__).with_suffix(".yaml")
Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Release:
    """A HelmRelease as it is rendered: its name, its chart with the exact version, and what it sets."""

    name: str
    chart: str
    version: str
    values: Values


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong with a release's values, and what could not be looked at or only against another version."""

    release: Release
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    unreachable: bool = False


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """What the table says of one chart."""

    parts: Mapping[str, str]
    free: frozenset[str]
    module: str | None

    def covers(self, path: str) -> bool:
        """Whether anything may stand at and below the path."""
        return any(fnmatchcase(path, pattern) for pattern in self.free)


@dataclass(frozen=True, kw_only=True)
class _Published:
    """A chart's own files: values with those of its parts below them, the schema if it has one, and their version."""

    values: Values
    schema: Values | None
    version: str


class ChartValues:
    """Reads each chart's files once. `table` says what is accepted beyond them."""

    def __init__(self, table: Path = ALLOWANCES) -> None:
        self._table: dict[str, dict[str, Any]] = yaml.load(table.read_bytes(), Loader=yaml.CSafeLoader)
        self._published: dict[str, _Published] = {}

    def check(self, release: Release) -> Finding:
        """Unknown paths and what the chart's schema refuses, a sentence each."""
        allowance = self.allowance(release.chart)
        try:
            published = self._read(release.chart, allowance)
        except (upstream.UpstreamUnavailable, gomodules.ModuleUnavailable) as unavailable:
            return Finding(release=release, notes=[str(unavailable)], unreachable=True)
        problems = [
            f"{path} is not in the values.yaml of {release.chart} {published.version}; "
            f"correct it, or give the reason in {ALLOWANCES.name}"
            for path in unknown_paths(release.values, published.values, allowance)
        ]
        return Finding(
            release=release,
            problems=[*problems, *schema_violations(merged(published.values, release.values), published.schema)],
            notes=_older(release, published),
        )

    def allowance(self, chart: str) -> Allowance:
        """What the table accepts of a chart."""
        entry: dict[str, Any] = self._table["charts"].get(chart, {})
        free: dict[str, str] = entry.get("free", {})
        return Allowance(
            parts=entry.get("parts", {}),
            free=frozenset({*self._table["everywhere"], *free}),
            module=entry.get("module"),
        )

    @cached_property
    def _locked(self) -> Mapping[str, upstream.UpstreamFile]:
        return upstream.locked()

    def _read(self, chart: str, allowance: Allowance) -> _Published:
        if chart not in self._published:
            self._published[chart] = self._fresh(chart, allowance)
        return self._published[chart]

    def _fresh(self, chart: str, allowance: Allowance) -> _Published:
        values = self._values(chart, allowance)
        for key, part in allowance.parts.items():
            own = self._values(part, allowance, f"charts/{key}")
            values = {**values, key: merged(own, cast("Values", values.get(key) or {}))}
        schema = self._file(f"{chart}-schema", allowance, "values.schema.json") if self._has_schema(chart) else None
        return _Published(values=values, schema=schema, version=self._locked[f"{chart}-values"].version)

    def _has_schema(self, chart: str) -> bool:
        return f"{chart}-schema" in self._locked

    def _values(self, chart: str, allowance: Allowance, directory: str = ".") -> Values:
        if f"{chart}-values" not in self._locked:
            raise upstream.UpstreamUnavailable(f"upstream.lock.yaml has no {chart}-values; add the chart's values.yaml")
        return self._file(f"{chart}-values", allowance, f"{directory}/values.yaml")

    def _file(self, name: str, allowance: Allowance, path: str) -> Values:
        try:
            content = upstream.read(name)
        except upstream.UpstreamUnavailable:
            if allowance.module is None:
                raise
            module, directory = allowance.module.split()
            content = (gomodules.directory(gomodules.pinned(module)) / directory / path).read_bytes()
        return yaml.load(content, Loader=yaml.CSafeLoader) or {}


def releases(recording: Recording) -> list[Release]:
    """Every HelmRelease of a rendered stack."""
    sources = {
        (found.inputs["kind"], found.inputs["metadata"]["namespace"], found.inputs["metadata"]["name"]): found.inputs
        for found in recording.manifests
        if found.inputs["kind"] == "OCIRepository"
    }
    found = [manifest.inputs for manifest in recording.manifests if manifest.inputs["kind"] == "HelmRelease"]
    return [_release(manifest, sources) for manifest in found]


def unknown_paths(values: Values, defaults: Values, allowance: Allowance, at: str = "") -> Iterator[str]:
    """Dotted paths that the chart does not have. A mapping over a scalar default is unknown too."""
    for key, value in values.items():
        path = f"{at}.{key}" if at else key
        if allowance.covers(path):
            continue
        if key not in defaults:
            yield path
        elif isinstance(value, Mapping) and value:
            inner = defaults[key]
            known: Values = cast("Values", inner) if isinstance(inner, Mapping) else {}
            yield from unknown_paths(cast("Values", value), known, allowance, path)


def schema_violations(values: Values, schema: Values | None) -> list[str]:
    """What the chart's own schema says against the values as Helm sees them, defaults included."""
    if schema is None:
        return []
    from jsonschema.validators import validator_for

    validator = validator_for(schema)(schema)
    return [f"{error.json_path.removeprefix('$.')}: {error.message}" for error in validator.iter_errors(values)]


def _release(manifest: Values, sources: Mapping[tuple[str, str, str], Values]) -> Release:
    metadata, spec = manifest["metadata"], manifest["spec"]
    if "chart" in spec:
        template = spec["chart"]["spec"]
        chart, version = template["chart"], template["version"]
    else:
        source = sources[spec["chartRef"]["kind"], metadata["namespace"], spec["chartRef"]["name"]]
        chart, version = source["spec"]["url"].rsplit("/", 1)[-1], source["spec"]["ref"].get("tag", "")
    return Release(name=metadata["name"], chart=chart, version=version, values=spec.get("values") or {})


def _older(release: Release, published: _Published) -> list[str]:
    if not release.version or release.version.lstrip("v") == published.version.lstrip("v"):
        return []
    return [f"the newest values of {release.chart} that can be had are of {published.version}, not {release.version}"]
