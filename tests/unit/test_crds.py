"""CRD bundles: real definitions of the pinned versions, stand-ins only where nothing can be reached."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from components import upstream
from components.errors import PlatformError
from platformctl.local import crds, gomodules
from platformctl.local.schema_free import kinds

WANTED = {
    "flux-operator": {"FluxInstance"},
    "flux": {"HelmRelease", "HelmRepository", "OCIRepository", "GitRepository", "Kustomization", "Receiver", "Alert"}
    | {"Provider", "ImageRepository", "ImagePolicy", "ImageUpdateAutomation"},
    "cloudnative-pg": {"Cluster", "Database", "ScheduledBackup"},
    "cert-manager": {"ClusterIssuer", "Issuer", "Certificate"},
    "kyverno": {"ClusterPolicy", "ValidatingPolicy", "PolicyReport", "EphemeralReport"},
    "gateway-api-standard": {"GatewayClass", "Gateway", "HTTPRoute", "ReferenceGrant", "TLSRoute"},
    "gateway-api-experimental": {"GatewayClass", "Gateway", "HTTPRoute"},
    "prometheus-operator": {"ServiceMonitor", "PrometheusRule", "Alertmanager"},
    "snapshots": {"VolumeSnapshot", "VolumeSnapshotClass", "VolumeSnapshotContent"},
    "cilium": {"CiliumLoadBalancerIPPool", "CiliumL2AnnouncementPolicy", "CiliumEgressGatewayPolicy"}
    | {"CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"},
    "longhorn": {"Volume", "Setting", "BackupTarget"},
    # Their operators make all other kinds at run time.
    "kubevirt": {"KubeVirt"},
    "cdi": {"CDI"},
    "velero": {"Backup", "BackupStorageLocation", "Schedule", "VolumeSnapshotLocation", "DataUpload"},
    "kwok": {"Stage"},
}


def names(objects: list[dict[str, Any]]) -> set[str]:
    return {crd["spec"]["names"]["kind"] for crd in objects}


def reached(name: str) -> crds.CrdBundle:
    """The bundle, unless it is only upstream's and neither mirror nor network provide it here."""
    bundle = crds.bundle(name)
    if bundle.schema_free and "cannot be downloaded" not in bundle.note:
        pytest.skip(bundle.note)
    return bundle


@pytest.fixture
def no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Go, mirror, network and cache."""
    empty = tmp_path / "bin"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UPSTREAM_MIRROR", raising=False)
    gomodules.directory.cache_clear()

    def refuse(file: upstream.UpstreamFile) -> bytes:
        raise upstream.UpstreamUnavailable(f"{file.name} could not be read from {file.url}")

    monkeypatch.setattr(upstream, "_download", refuse)


@pytest.fixture
def go() -> None:
    if shutil.which("go") is None:
        pytest.skip("needs go")


@pytest.mark.usefixtures("go")
@pytest.mark.parametrize("name", crds.NAMES)
def test_a_bundle_has_the_real_definitions(name: str) -> None:
    bundle = reached(name)
    assert not bundle.schema_free, bundle.note
    assert WANTED[name] <= names(bundle.objects)
    assert {crd["kind"] for crd in bundle.objects} == {"CustomResourceDefinition"}
    assert bundle.version.startswith("v")
    assert re.search(r"^go module \S+ v\d+\.\d+\.\d+$|^upstream lock \S+$", bundle.source)


@pytest.mark.usefixtures("go")
def test_flux_is_the_newest_that_the_pinned_operator_carries() -> None:
    operator = gomodules.pinned("github.com/controlplaneio-fluxcd/flux-operator")
    carried = [path.name for path in (gomodules.directory(operator) / "config/data/flux").iterdir()]
    version = crds.bundle("flux").version
    assert version in carried
    numbers = [[int(part) for part in name[1:].split(".")] for name in carried if re.fullmatch(r"v\d+\.\d+\.\d+", name)]
    assert [int(part) for part in version[1:].split(".")] == max(numbers)


@pytest.mark.usefixtures("go")
def test_properties_named_description_stay() -> None:
    """Descriptions are left out; kubectl's prose is not worth the API server's time, properties are."""
    (monitor,) = [
        crd
        for crd in crds.bundle("prometheus-operator").objects
        if crd["spec"]["names"]["kind"] == "AlertmanagerConfig"
    ]
    found: list[Any] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend([node["description"]] if "description" in node else [])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(monitor["spec"]["versions"])
    assert found
    assert all(isinstance(value, dict) for value in found)


@pytest.mark.usefixtures("go")
def test_a_second_reading_needs_no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = crds.bundle("snapshots")
    monkeypatch.setenv("PATH", "/nowhere")
    gomodules.directory.cache_clear()
    assert crds.bundle("snapshots") == first


@pytest.mark.usefixtures("no_go")
@pytest.mark.parametrize("name", crds.NAMES)
def test_without_any_source_there_are_noted_stand_ins(name: str) -> None:
    bundle = crds.bundle(name)
    assert bundle.schema_free
    assert name in bundle.note
    assert re.search(r"no `go` on PATH|could not be read from", bundle.note)
    assert WANTED[name] <= names(bundle.objects)
    for crd in bundle.objects:
        assert [version["name"] for version in crd["spec"]["versions"] if version["storage"]]


@pytest.mark.usefixtures("no_go")
def test_a_file_of_the_lock_comes_before_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = b"kind: CustomResourceDefinition\nspec: {names: {kind: FluxInstance}}\n---\nkind: Namespace\n"
    monkeypatch.setattr(upstream, "read", lambda name, lock=None: manifest)
    bundle = crds.bundle("flux-operator")
    assert (bundle.source, names(bundle.objects)) == ("upstream lock flux-operator", {"FluxInstance"})


@pytest.mark.usefixtures("go")
@pytest.mark.parametrize("name", crds.NAMES)
def test_stand_ins_have_the_names_scopes_and_versions_of_the_real_ones(name: str) -> None:
    """Otherwise run the program with the network once and correct schema_free.yaml."""
    real = {
        (
            crd["spec"]["group"],
            crd["spec"]["names"]["kind"],
            crd["spec"]["names"]["plural"],
            crd["spec"]["scope"] == "Namespaced",
            frozenset(version["name"] for version in crd["spec"]["versions"] if version["served"]),
        )
        for crd in reached(name).objects
    }
    stand_ins = {
        (kind.group, kind.kind, kind.plural, kind.namespaced, frozenset(kind.versions)) for kind in kinds(name)
    }
    assert stand_ins == real


@pytest.mark.usefixtures("go")
def test_a_module_with_another_checksum_is_refused(tmp_path: Path) -> None:
    path = "github.com/kubernetes-csi/external-snapshotter/client/v8"
    pin = gomodules.pinned(path)
    (tmp_path / "go.mod").write_text((gomodules.PINS / "go.mod").read_text())
    (tmp_path / "go.sum").write_text(f"{path} {pin.version} h1:{'A' * 43}=\n")
    with pytest.raises(PlatformError, match="is not the pinned module") as refused:
        gomodules.directory(gomodules.pinned(path, pins=tmp_path))
    assert pin.checksum in str(refused.value)


def test_every_required_module_has_its_checksum() -> None:
    required = re.findall(r"^\t(\S+) v", (gomodules.PINS / "go.mod").read_text(), re.MULTILINE)
    assert required
    assert all(gomodules.pinned(path).checksum.startswith("h1:") for path in required)


def test_a_missing_checksum_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module x\n\nrequire (\n\texample.org/some/module v1.0.0\n)\n")
    (tmp_path / "go.sum").write_text("")
    with pytest.raises(PlatformError, match=r"go mod download -json example\.org/some/module@v1\.0\.0"):
        gomodules.pinned("example.org/some/module", pins=tmp_path)


def test_an_unknown_bundle_lists_the_known_ones() -> None:
    with pytest.raises(PlatformError, match=r"no CRD bundle nothing; there are: .*cert-manager"):
        crds.bundle("nothing")
