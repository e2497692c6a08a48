"""Bundles of CustomResourceDefinitions: from pinned Go modules, else from upstream.lock.yaml, else without schemas."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from components import upstream
from components.errors import PlatformError
from platformctl.local import gomodules
from platformctl.local.schema_free import schema_free
from platformctl.paths import cache_dir

# Part of every cache key: changes when the same sources are read differently.
CACHE_FORMAT = "2"


@dataclass(frozen=True, kw_only=True)
class CrdBundle:
    """The CRDs of one upstream project. `source` says where they are from, `note` what a person should know of it."""

    name: str
    version: str
    objects: list[dict[str, Any]]
    source: str
    note: str = ""

    @property
    def schema_free(self) -> bool:
        """Whether these are stand-ins that accept any content."""
        return self.source == "schema-free"


@dataclass(frozen=True, kw_only=True)
class _Origin:
    """Where a bundle's CRDs are: files of a Go module by glob, and the name of an upstream file with the same."""

    module: str | None = None
    globs: tuple[str, ...] = ()
    upstream: str | None = None
    # Picks the part of the module that is read; its name is then the bundle's version.
    inside: Callable[[Path], Path] | None = None


def _newest_flux(root: Path) -> Path:
    """flux-operator carries every Flux distribution that it can install; the newest is the one it was released with."""
    return max((root / "config/data/flux").glob("v*.*.*"), key=lambda path: _numbers(path.name))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


_ORIGINS = {
    "cdi": _Origin(upstream="cdi-operator"),
    "cert-manager": _Origin(module="github.com/cert-manager/cert-manager", globs=("deploy/crds/*.yaml",)),
    "cilium": _Origin(module="github.com/cilium/cilium", globs=("pkg/k8s/apis/cilium.io/client/crds/*/*.yaml",)),
    "cloudnative-pg": _Origin(upstream="cloudnative-pg-crds"),
    "flux": _Origin(
        module="github.com/controlplaneio-fluxcd/flux-operator", globs=("*-controller.yaml",), inside=_newest_flux
    ),
    "flux-operator": _Origin(
        module="github.com/controlplaneio-fluxcd/flux-operator",
        globs=("config/crd/bases/*.yaml",),
        upstream="flux-operator",
    ),
    "gateway-api-experimental": _Origin(
        module="sigs.k8s.io/gateway-api", globs=("config/crd/experimental/gateway.networking.*.yaml",)
    ),
    "gateway-api-standard": _Origin(
        module="sigs.k8s.io/gateway-api", globs=("config/crd/standard/gateway.networking.*.yaml",)
    ),
    "kubevirt": _Origin(upstream="kubevirt-operator"),
    "kwok": _Origin(module="sigs.k8s.io/kwok", globs=("kustomize/crd/bases/kwok.x-k8s.io_stages.yaml",)),
    "kyverno": _Origin(module="github.com/kyverno/kyverno", globs=("config/crds/*/*.yaml",)),
    # Its module is not served; the file is upstream's own rendering of the chart.
    "longhorn": _Origin(upstream="longhorn-crds"),
    "prometheus-operator": _Origin(
        module="github.com/prometheus-operator/prometheus-operator", globs=("example/prometheus-operator-crd/*.yaml",)
    ),
    "snapshots": _Origin(
        module="github.com/kubernetes-csi/external-snapshotter/client/v8", globs=("config/crd/*.storage.k8s.io_*.yaml",)
    ),
    "velero": _Origin(module="github.com/vmware-tanzu/velero", globs=("config/crd/*/bases/*.yaml",)),
}

NAMES = tuple(sorted(_ORIGINS))


def bundle(name: str) -> CrdBundle:
    """The bundle `name` (one of NAMES): real CRDs wherever they can be reached, else schema-free ones with a note."""
    if name not in _ORIGINS:
        raise PlatformError(f"there is no CRD bundle {name}; there are: {', '.join(NAMES)}")
    origin = _ORIGINS[name]
    reasons: list[str] = []
    if origin.module:
        try:
            return _from_module(name, gomodules.pinned(origin.module), origin)
        except gomodules.ModuleUnavailable as unavailable:
            reasons.append(str(unavailable))
    if origin.upstream:
        try:
            return _from_upstream(name, origin.upstream)
        except upstream.UpstreamUnavailable as unavailable:
            reasons.append(str(unavailable))
    note = f"the CRDs of {name} are stand-ins without schemas: {'; '.join(reasons)}"
    return CrdBundle(name=name, version="none", objects=schema_free(name), source="schema-free", note=note)


def prepare(names: Iterable[str] = NAMES) -> list[CrdBundle]:
    """Reads (and so downloads and caches) many bundles, one after the other."""
    return [bundle(name) for name in names]


def _from_module(name: str, module: gomodules.Module, origin: _Origin) -> CrdBundle:
    key = (name, module.version, module.checksum, *origin.globs)

    def build() -> CrdBundle:
        root = gomodules.directory(module)
        directory = origin.inside(root) if origin.inside else root
        version = directory.name if origin.inside else module.version
        files = [path for glob in origin.globs for path in sorted(directory.glob(glob))]
        documents = [document for path in files for document in upstream.parse(path.read_bytes())]
        source = f"go module {module.path} {module.version}"
        return CrdBundle(name=name, version=version, objects=list(_definitions(documents)), source=source)

    return _cached(key, build)


def _from_upstream(name: str, file: str) -> CrdBundle:
    entry = upstream.locked()[file]

    def build() -> CrdBundle:
        objects = list(_definitions(upstream.documents(file)))
        return CrdBundle(name=name, version=entry.version, objects=objects, source=f"upstream lock {file}")

    return _cached((name, entry.version, entry.sha256), build)


def _definitions(documents: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The CRDs among the documents, without the empty status that generators write and without descriptions.

    Prose is three quarters of them (8 of all bundles' 10 MB), and the API server works through it again and again.
    """
    for document in documents:
        if document.get("kind") == "CustomResourceDefinition":
            yield {key: _without_prose(value) for key, value in document.items() if key != "status"}


def _without_prose(node: Any) -> Any:
    """A property that is named description is a schema, not text; values of a default may hold anything."""
    if isinstance(node, list):
        return [_without_prose(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    return {
        key: value if key in ("default", "enum", "example") else _without_prose(value)
        for key, value in cast("dict[str, Any]", node).items()
        if not (key == "description" and isinstance(value, str))
    }


def _cached(key: tuple[str, ...], build: Callable[[], CrdBundle]) -> CrdBundle:
    """Parsing YAML of some megabytes takes seconds, reading the same as JSON does not."""
    digest = hashlib.sha256("\n".join((CACHE_FORMAT, *key)).encode()).hexdigest()
    file = cache_dir() / "crds" / f"{digest}.json"
    try:
        return CrdBundle(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):
        built = build()
    if not built.objects:
        raise PlatformError(f"{built.source} holds no CRDs of {built.name} where they are expected")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as temporary:
        json.dump(asdict(built), temporary)
    Path(temporary.name).replace(file)
    return built
