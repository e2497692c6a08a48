"""A stack file read without an engine gives what the engine gives; the table was measured with pulumi 3.274.1."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from components.errors import PlatformError
from components.settings import StackConfig
from platformctl.stackfile import PLACEHOLDER, load_settings, stack_config, stacks

VALID = Path(__file__).parent.parent / "config" / "valid"

MEASURED = [
    ("abc", "abc"),
    ("3", "3"),
    ("010", "8"),
    ("0o10", "8"),
    ("08", "8"),
    ("0x10", "16"),
    ("0b11", "3"),
    ("+5", "5"),
    ("-0", "0"),
    ("1_000", "1000"),
    ("1.50", "1.5"),
    ("5.0", "5"),
    ("1e3", "1000"),
    ("1e21", "1e+21"),
    ("0.0000001", "1e-7"),
    ("1e400", "1e400"),
    ("123456789012345678", "123456789012345678"),
    ("123456789012345678901234567890", "1.2345678901234568e+29"),
    ("true", "true"),
    ("True", "true"),
    ("yes", "yes"),
    ('"on"', "on"),
    ("null", ""),
    ("~", ""),
    ("", ""),
    ('""', ""),
    ("2024-01-02", "2024-01-02 00:00:00 +0000 UTC"),
    ("1:30", "1:30"),
    ("1.1.1.1", "1.1.1.1"),
    ('"{a"', "{a"),
    ("""'{"a": 1}'""", '{"a": 1}'),
    ("!!str 010", "010"),
    ("!!binary aGk=", "hi"),
    ("{}", "{}"),
    ("[]", "[]"),
]
MEASURED_INSIDE = [
    ("010", 8),
    ("08", 8),
    ("2.0", 2),
    ("1e3", 1000),
    ("1e21", 1e21),
    ("-0.0", 0),
    ("1e400", "1e400"),
    ("12345678901234567890", 12345678901234567000),
    ("TRUE", True),
    ("yes", "yes"),
    ("null", None),
    ("", None),
    ("2024-01-02", "2024-01-02 00:00:00 +0000 UTC"),
    ("[a, 1, true, yes, 010]", ["a", 1, True, "yes", 8]),
    ('"é<>&"', "é<>&"),
]


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "Pulumi.test.yaml"
    file.write_text(text)
    return file


def read(tmp_path: Path, text: str) -> StackConfig:
    return stack_config("test", written(tmp_path, text))


def complaint(tmp_path: Path, text: str) -> str:
    with pytest.raises(PlatformError) as caught:
        read(tmp_path, text)
    (sentence,) = caught.value.sentences
    return sentence


@pytest.mark.parametrize(("yaml", "text"), MEASURED)
def test_a_scalar_is_handed_over_as_the_engine_does(tmp_path: Path, yaml: str, text: str) -> None:
    assert read(tmp_path, f"config:\n  home:a: {yaml}\n").values == {"home:a": text}


@pytest.mark.parametrize(("yaml", "value"), MEASURED_INSIDE)
def test_inside_a_map_values_keep_their_type(tmp_path: Path, yaml: str, value: object) -> None:
    raw = read(tmp_path, f"config:\n  home:a:\n    b: {yaml}\n").values["home:a"]
    inside = json.loads(raw)["b"]
    assert (inside, type(inside)) == (value, type(value)) or inside == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("yaml", "key"),
    [
        ("plain: 1", "home:plain"),
        ("home:a: 1", "home:a"),
        ("home:config:a: 1", "home:a"),
        ("pulumi:tags: 1", "pulumi:tags"),
    ],
)
def test_keys_are_the_engines(tmp_path: Path, yaml: str, key: str) -> None:
    assert list(read(tmp_path, f"config:\n  {yaml}\n").values) == [key]


@pytest.mark.parametrize(("yaml", "name"), [("2: x", "2"), ("true: x", "true"), ("y: x", "y"), ('"a b": x', "a b")])
def test_keys_inside_a_map_are_text(tmp_path: Path, yaml: str, name: str) -> None:
    assert json.loads(read(tmp_path, f"config:\n  home:a: {{{yaml}}}\n").values["home:a"]) == {name: "x"}


@pytest.mark.parametrize(
    ("yaml", "is_encrypted"),
    [
        ("{secure: v1:abc}", True),
        ('{secure: ""}', True),
        ("[{secure: x}]", True),
        ("{b: 1, c: {secure: abc}}", True),
        ("{secure: 5}", False),
        ("{secure: v1:abc, z: 1}", False),
    ],
)
def test_what_counts_as_encrypted(tmp_path: Path, yaml: str, is_encrypted: bool) -> None:
    config = read(tmp_path, f"config:\n  home:a: {yaml}\n")
    assert set(config.encrypted) == ({"home:a"} if is_encrypted else set())
    assert (PLACEHOLDER in config.values["home:a"]) is is_encrypted


def test_an_alias_and_a_merge_are_resolved(tmp_path: Path) -> None:
    config = read(tmp_path, "config:\n  home:a: &x {p: 1, q: 1}\n  home:b: {<<: *x, q: 2}\n  home:c: *x\n")
    assert json.loads(config.values["home:b"]) == {"p": 1, "q": 2}
    assert json.loads(config.values["home:c"]) == {"p": 1, "q": 1}


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    config = read(tmp_path, "# comment\nconfig:\n  home:a:\n    b:\n      - x\n      - y\n  plain: 1\n")
    assert config.lines == {"home:a": 3, "home:a.b": 4, "home:a.b[0]": 5, "home:a.b[1]": 6, "home:plain": 7}
    assert config.place("home:a.b[1].c") == "Pulumi.test.yaml:6: "
    assert config.place("home:a.missing") == "Pulumi.test.yaml:3: "
    assert config.place("home:other") == "Pulumi.test.yaml: "


def test_assumed_secrets_fill_only_what_is_absent(tmp_path: Path) -> None:
    file = written(tmp_path, "config:\n  home:ageKey: in-plain-text\n")
    config = stack_config("test", file, assume_secrets=True)
    assert config.values == {"home:ageKey": "in-plain-text", "home:deployKey": PLACEHOLDER}
    assert set(config.encrypted) == {"home:deployKey"}


def test_settings_need_no_secrets(tmp_path: Path) -> None:
    text = (VALID / "minimal.yaml").read_text().partition("  home:deployKey")[0]
    assert load_settings("test", written(tmp_path, text)).domain == "dev.home.example.org"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "config:\n  home:a: [1\n  home:b: 2\n",
            "Pulumi.test.yaml:3:9: this is not YAML; while parsing a flow sequence: did not find expected ',' or ']'",
        ),
        (
            "\tconfig: a\n",
            "Pulumi.test.yaml:1:1: this is not YAML; while scanning for the next token: "
            "found character that cannot start any token",
        ),
        ("config:\n  home:a: *x\n", "Pulumi.test.yaml:2:11: this is not YAML; found undefined alias"),
        (
            "config: {}\n---\nconfig: {}\n",
            "Pulumi.test.yaml:2:1: this is not YAML; expected a single document in the stream: found another document",
        ),
        (
            "config:\n  home:a: &x [*x]\n",
            "Pulumi.test.yaml:2:11: home:a[0] is an alias of what it stands in; write the value out",
        ),
        (
            "config:\n  home:a: 1\n  home:b: 2\n  home:a: 3\n",
            "Pulumi.test.yaml:4:3: home:a is set twice, first in line 2; keep one of them",
        ),
        (
            "config:\n  home:a:\n    b: 1\n    b: 2\n",
            "Pulumi.test.yaml:4:5: home:a.b is set twice, first in line 3; keep one of them",
        ),
        ("config:\n  ? [a]\n  : 1\n", "Pulumi.test.yaml:2:5: a key must be plain text, not a map or a list"),
        ("- a\n", "Pulumi.test.yaml: the file must be a map with the key config, but is a list"),
        ("", "Pulumi.test.yaml: the file must be a map with the key config, but is empty"),
        ("confg: {}\n", "Pulumi.test.yaml: config is missing; it must be a map with keys such as home:domain"),
        ("config: [1]\n", "Pulumi.test.yaml:1: config is a list, but must be a map with keys such as home:domain"),
        (
            "config:\n  a:b:c: 1\n",
            "Pulumi.test.yaml:2: a:b:c is not a configuration key; it must be of the form NAMESPACE:NAME",
        ),
    ],
)
def test_what_is_no_stack_file_is_said_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    assert complaint(tmp_path, text) == sentence


@pytest.mark.parametrize("text", ["a: \x01\n", "config: {a: " + "[" * 5000, 'config:\n  home:a: "\\ud800"\n'])
def test_hostile_bytes_are_one_sentence(tmp_path: Path, text: str) -> None:
    assert re.match(r"Pulumi\.test\.yaml(:\d+:\d+)?: ", complaint(tmp_path, text))


def test_a_file_in_another_encoding_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.test.yaml"
    file.write_bytes("config:\n  home:a: grün\n".encode("latin-1"))
    with pytest.raises(PlatformError, match=r"^Pulumi\.test\.yaml: this is not YAML; "):
        stack_config("test", file)


def test_an_unknown_stack_is_told_which_ones_exist() -> None:
    sentence = r"^Pulumi\.prd\.yaml does not exist, so there is no stack prd; the stacks here are dev and prod$"
    with pytest.raises(PlatformError, match=sentence):
        load_settings("prd")
    assert stacks() == ["dev", "prod"]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=r"does not exist; give the path of a stack file$"):
        stack_config("test", tmp_path / "Pulumi.test.yaml")


def test_reading_a_stack_file_needs_no_pulumi() -> None:
    code = (
        "import sys, platformctl.stackfile as s; s.load_settings('dev');"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'pulumi', 'pulumi_kubernetes', 'grpc'}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
