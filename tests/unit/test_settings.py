"""What a person is told about a stack file: one fixture per rule, exactly the sentences that it names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from components import contracts
from components.errors import PlatformError
from components.model_paths import known_keys
from components.settings import CONFIG_SECRETS, Settings, StackConfig, parse
from platformctl.stackfile import load_settings, stack_config

FIXTURES = Path(__file__).parent.parent / "config"
INVALID = sorted((FIXTURES / "invalid").glob("*.yaml"))
STACK = "test"


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """An invalid fixture: its rule, the sentences it must cause, and keys taken out of valid/minimal.yaml."""

    rule: str
    expected: list[str]
    without: list[str]

    @classmethod
    def read(cls, path: Path) -> Fixture:
        found: dict[str, list[str]] = {"rule": [], "expect": [], "without": []}
        for line in path.read_text().splitlines():
            if match := re.fullmatch(r"# (rule|expect|without): (.+)", line):
                found[match[1]].append(match[2])
        return cls(rule=" ".join(found["rule"]), expected=found["expect"], without=found["without"])


def overlaid(path: Path, fixture: Fixture) -> StackConfig:
    """The fixture's entries over those of valid/minimal.yaml, maps merged; lines are the fixture's own."""
    base = stack_config(STACK, FIXTURES / "valid" / "minimal.yaml")
    own = stack_config(STACK, path)
    values = {key: decoded(value) for key, value in base.values.items()}
    for key in fixture.without:
        remove(values, key)
    merged = contracts.merged(values, {key: decoded(value) for key, value in own.values.items()})
    encrypted = (set(base.encrypted) - own.values.keys() | set(own.encrypted)) & merged.keys()
    return replace(own, values={key: encoded(value) for key, value in merged.items()}, encrypted=encrypted)


def decoded(raw: str) -> Any:
    try:
        value = json.loads(raw)
    except ValueError:
        return raw
    return value if isinstance(value, dict | list) else raw


def encoded(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def remove(values: dict[str, Any], key: str) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        values = values[parent]
    del values[last]


def sentences(config: StackConfig) -> list[str]:
    """Everything that is wrong, without the file's name."""
    try:
        found = contracts.broken(STACK, parse(config))
    except PlatformError as error:
        found = list(error.sentences)
    assert all(re.match(rf"({re.escape(config.file)}|Pulumi\.{STACK}\.yaml):", sentence) for sentence in found)
    return [sentence.partition(":")[2].strip() for sentence in found]


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_a_broken_rule_is_said_in_exactly_these_sentences(path: Path) -> None:
    fixture = Fixture.read(path)
    assert fixture.rule
    assert fixture.expected
    assert sentences(overlaid(path, fixture)) == fixture.expected


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_no_sentence_shows_a_secret_or_the_validators_own_words(path: Path) -> None:
    text = "\n".join(sentences(overlaid(path, Fixture.read(path))))
    jargon = "Input should|Value error|Field required|Extra inputs|type=|IPv4Address|BEGIN|hunter2|AGE-SECRET-KEY|None"
    assert not re.search(jargon, text), text
    assert all(sentence.isprintable() for sentence in text.split("\n"))


@pytest.mark.parametrize("name", ["minimal", "full"])
def test_a_valid_stack_file_is_accepted(name: str) -> None:
    config = stack_config(STACK, FIXTURES / "valid" / f"{name}.yaml")
    assert sentences(config) == []


def test_what_a_minimal_file_leaves_out_has_its_default() -> None:
    settings = load_settings(STACK, FIXTURES / "valid" / "minimal.yaml")
    assert (settings.cluster.api_server.port, settings.git.branch, settings.git.interval) == (6443, "main", "10m")


def test_values_arrive_typed() -> None:
    settings = load_settings(STACK, FIXTURES / "valid" / "full.yaml")
    assert settings.cluster.protect is True
    assert settings.cluster.api_server.host == IPv4Address("192.168.10.10")
    assert settings.cilium.devices == ["eno1", "enp+"]
    assert settings.git.known_hosts.endswith("a comment")


def test_the_engines_path_has_no_lines() -> None:
    config = stack_config(STACK, FIXTURES / "valid" / "minimal.yaml")
    broken = StackConfig(stack="dev", values={**config.values, "home:domain": "X"}, encrypted=config.encrypted)
    with pytest.raises(PlatformError, match=r"^Pulumi\.dev\.yaml: home:domain is \"X\", but must be "):
        parse(broken)


def test_every_field_is_described_and_has_a_fixture_for_wrong_and_for_missing() -> None:
    text = "\n".join(sentence for path in INVALID for sentence in Fixture.read(path).expected)
    for key, field in leaves(Settings):
        assert field.description, f"home:{key} has no description, so its mistakes cannot be explained"
        assert re.search(rf"home:{re.escape(key)}(\[\d\])? is [^;]+, but must be", text), (
            f"no fixture breaks home:{key}"
        )
        if field.is_required():
            assert f"home:{key} is missing" in text, f"no fixture leaves out home:{key}"


def test_every_contract_and_every_secret_has_a_fixture() -> None:
    expected = [Fixture.read(path).expected for path in INVALID if path.stem.startswith("contract-")]
    assert len(expected) >= len(contracts.STACK_RULES)
    text = "\n".join(sentence for path in INVALID for sentence in Fixture.read(path).expected)
    for secret in CONFIG_SECRETS:
        assert f"home:{secret.key} is missing" in text
        assert f"home:{secret.key} is in plain text" in text


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, field in known_keys(model).items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from leaves(annotation, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", field
