"""The published schema is the program's own, and editors refuse with it what the program refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from typer.testing import CliRunner

from components.errors import PlatformError
from components.settings import CONFIG_SECRETS
from platformctl.paths import CHECKOUT
from platformctl.schema import published
from platformctl.schema.cli import app
from platformctl.schema.service import service_schema
from platformctl.schema.stack import stack_schema

FIXTURES = Path(__file__).parent.parent / "config"
STACK_FILES = [*CHECKOUT.glob("Pulumi.*.yaml"), *(FIXTURES / "valid").glob("*.yaml")]
DOCUMENTS = {"stack": stack_schema, "service": service_schema}
validator = Draft7Validator(stack_schema())


def minimal() -> dict[str, Any]:
    return yaml.safe_load((FIXTURES / "valid" / "minimal.yaml").read_text())


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_published_schema_is_current_and_a_schema(kind: str) -> None:
    published.check(kind, DOCUMENTS[kind]())
    Draft7Validator.check_schema(DOCUMENTS[kind]())


@pytest.mark.parametrize("file", STACK_FILES, ids=lambda file: file.name)
def test_a_valid_stack_file_satisfies_the_schema(file: Path) -> None:
    assert [error.message for error in validator.iter_errors(yaml.safe_load(file.read_text()))] == []


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_editors_find_the_schema_from_the_first_line(stack: str) -> None:
    first = (CHECKOUT / f"Pulumi.{stack}.yaml").read_text().splitlines()[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    assert first != name
    assert json.loads((CHECKOUT / name).read_text()) == stack_schema()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("home:domain", "Home"),
        ("home:domian", "home.example.org"),
        ("domain", "home.example.org"),
        ("home:deployKey", "in plain text"),
        ("home:ageKey", {"secure": "v1:abc", "note": "x"}),
        ("home:kyverno", {"replicas": 10, "failurePolicy": "Ignore"}),
        ("home:kyverno", {"replicas": "1", "failurePolicy": "Ignore"}),
        ("home:kyverno", {"replicas": 1, "failurePolicy": "ignore"}),
        ("home:kyverno", {"replicas": 1, "failurePolicy": "Ignore", "colour": "red"}),
        ("home:kyverno", {"replicas": 1}),
        ("home:cilium", {"devices": [], "operatorReplicas": 1}),
        ("home:cilium", {"devices": ["ETH 0"], "operatorReplicas": 1}),
    ],
)
def test_a_mistake_is_refused(key: str, value: Any) -> None:
    document = minimal()
    document["config"][key] = value
    assert not validator.is_valid(document)


def test_a_network_without_a_prefix_length_is_refused() -> None:
    document = minimal()
    document["config"]["home:cluster"]["podCidr"] = "10.42.0.0"
    assert not validator.is_valid(document)


@pytest.mark.parametrize("key", sorted(minimal()["config"]))
def test_what_is_required_is_required_and_secrets_may_be_set_later(key: str) -> None:
    document = minimal()
    del document["config"][key]
    is_secret = key in {f"home:{secret.key}" for secret in CONFIG_SECRETS}
    assert validator.is_valid(document) is is_secret


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_key_is_described_and_every_map_of_ours_is_closed(kind: str) -> None:
    for path, schema in schemas(DOCUMENTS[kind]()):
        assert is_described(schema), f"{path} has no description"
        if "properties" in schema:
            assert schema["additionalProperties"] is False, f"{path} takes any key"


def is_described(schema: dict[str, Any]) -> bool:
    return bool(schema.get("description") or schema.get("$ref")) or any(map(is_described, schema.get("anyOf", [])))


def schemas(document: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in {**document.get("properties", {}), **document.get("$defs", {})}.items():
        if name == "secure":
            continue
        yield f"{path}/{name}", schema
        yield from schemas(schema, f"{path}/{name}")


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_command_prints_the_schema(kind: str) -> None:
    result = CliRunner().invoke(app, [kind])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == DOCUMENTS[kind]()


def test_check_and_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "DIRECTORY", tmp_path / "schemas")
    with pytest.raises(PlatformError, match=r"^schemas/stack\.schema\.json does not exist; write it with `"):
        CliRunner().invoke(app, ["stack", "--check"], catch_exceptions=False)
    assert CliRunner().invoke(app, ["stack", "--write"]).exit_code == 0
    assert CliRunner().invoke(app, ["stack", "--check"]).exit_code == 0
    (tmp_path / "schemas" / "stack.schema.json").write_text("{}\n")
    with pytest.raises(PlatformError, match=r"^schemas/stack\.schema\.json is not current; write it with `"):
        CliRunner().invoke(app, ["stack", "--check"], catch_exceptions=False)


def test_write_and_check_at_once_is_a_mistake() -> None:
    with pytest.raises(PlatformError, match="exclude each other"):
        CliRunner().invoke(app, ["stack", "--check", "--write"], catch_exceptions=False)
