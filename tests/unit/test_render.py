"""`platformctl render` from the outside, and its manifests against schemas and goldens."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from components import upstream
from components.errors import PlatformError
from components.settings import StackConfig
from platformctl.cli import app
from platformctl.local import crds
from platformctl.render import manifests
from platformctl.render.recorder import Recording, record
from platformctl.render.schema import Schemas
from platformctl.stackfile import stack_config

GOLDEN = Path(__file__).parents[1] / "golden"
BUNDLES = (
    "flux-operator",
    "flux",
    "cert-manager",
    "kyverno",
    "snapshots",
    "cilium",
    "gateway-api-standard",
    "prometheus-operator",
    "cloudnative-pg",
    "kubevirt",
    "cdi",
)
# Groups that end like those of Kubernetes itself, and are custom all the same.
CUSTOM_GROUPS = ("gateway.networking.k8s.io", "snapshot.storage.k8s.io")


@pytest.fixture(scope="session")
def schemas() -> Schemas:
    return Schemas(definition for name in BUNDLES for definition in crds.bundle(name).objects)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_the_command_writes_complete_manifests(stack: str, tmp_path: Path, recordings: dict[str, Recording]) -> None:
    result = CliRunner().invoke(app, ["render", "--stack", stack, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    written = [document for path in (tmp_path / "out").glob("*.yaml") for document in yaml.safe_load_all(path.open())]
    assert len(written) == len(recordings[stack].manifests)


def test_a_second_render_replaces_the_first(tmp_path: Path, recordings: dict[str, Recording]) -> None:
    manifests.write(recordings["dev"], tmp_path / "out")
    (tmp_path / "out" / "stale.yaml").write_text("{}")
    manifests.write(recordings["dev"], tmp_path / "out")
    assert not (tmp_path / "out" / "stale.yaml").exists()


def test_a_directory_of_somebody_else_is_left_alone(tmp_path: Path, recordings: dict[str, Recording]) -> None:
    (tmp_path / "photo.jpg").touch()
    with pytest.raises(PlatformError, match="was not written by a render"):
        manifests.write(recordings["dev"], tmp_path)
    assert (tmp_path / "photo.jpg").exists()


def test_rendering_twice_gives_the_same_bytes(recordings: dict[str, Recording]) -> None:
    again = record(stack_config("dev", assume_secrets=True))
    texts = [manifests.dump(found.inputs for found in recording.manifests) for recording in (recordings["dev"], again)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_goldens_are_current(stack: str, recordings: dict[str, Recording], request: pytest.FixtureRequest) -> None:
    rendered = {
        f"{component}.yaml": manifests.dump(found.inputs for found in registrations)
        for component, registrations in manifests.by_component(recordings[stack]).items()
        # Upstream's own files, pinned by their sha256.
        if component not in upstream.locked()
    }
    if request.config.getoption("--update-goldens"):
        _replace(GOLDEN / stack, rendered)
    golden = {path.name: path.read_text() for path in (GOLDEN / stack).glob("*.yaml")}
    assert rendered == golden, "look at the difference, then run pytest --update-goldens tests/unit/test_render.py"


def _replace(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for path in directory.glob("*.yaml"):
        path.unlink()
    for name, text in files.items():
        (directory / name).write_text(text)


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_every_custom_resource_fits_its_schema(stack: str, recordings: dict[str, Recording], schemas: Schemas) -> None:
    custom = [found.inputs for found in recordings[stack].manifests if _is_custom(found.inputs["apiVersion"])]
    assert [manifest["kind"] for manifest in custom if manifest not in schemas] == []
    assert [sentence for manifest in custom for sentence in schemas.violations(manifest)] == []


def _is_custom(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." in group and (not group.endswith(".k8s.io") or group in CUSTOM_GROUPS)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"source_ref": {}}, "unknown field spec.source_ref, did you mean sourceRef?"),
        ({"pruune": True}, "unknown field spec.pruune, did you mean prune?"),
        ({"prune": "yes"}, "spec.prune: 'yes' is not of type 'boolean'"),
        ({"interval": "10"}, "spec.interval: '10' does not match"),
    ],
)
def test_a_field_that_the_api_server_would_drop_or_refuse_is_found(
    change: dict[str, object], sentence: str, recordings: dict[str, Recording], schemas: Schemas
) -> None:
    kustomization = next(
        found.inputs for found in recordings["dev"].manifests if found.inputs["kind"] == "Kustomization"
    )
    broken = {**kustomization, "spec": {**kustomization["spec"], **change}}
    assert any(sentence in found for found in schemas.violations(broken)), schemas.violations(broken)


def test_mistakes_of_the_user_come_as_sentences() -> None:
    config = stack_config("dev", assume_secrets=True)
    values = {**config.values, "home:domain": "Not A Domain", "home:typo": "x"}
    with pytest.raises(PlatformError) as caught:
        record(StackConfig(stack="dev", values=values, encrypted=config.encrypted))
    assert len(caught.value.sentences) == 2
    assert all(sentence.startswith("Pulumi.dev.yaml: home:") for sentence in caught.value.sentences)
