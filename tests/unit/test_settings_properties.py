"""Whatever a stack file holds, the answer is settings or sentences, and never a secret."""

from __future__ import annotations

import json
import re
import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from components.errors import PlatformError
from components.model_paths import known_keys
from components.settings import CONFIG_SECRETS, Settings, StackConfig, parse

SECRET_KEYS = [f"home:{secret.key}" for secret in CONFIG_SECRETS]
TOP_KEYS = [f"home:{key}" for key in known_keys(Settings)]


def nested_keys(model: type[BaseModel]) -> set[str]:
    found = set(known_keys(model))
    for field in model.model_fields.values():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= nested_keys(field.annotation)
    return found


# Any characters, lone surrogates and control characters too.
texts = st.text(st.characters(), max_size=20)
plausible = st.sampled_from(["home.example.org", "10.42.0.0/16", "1.1.1.1", "10m", "010", "yes", "true", "", "eno1"])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts | plausible
keys = st.sampled_from(sorted(nested_keys(Settings))) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6), max_leaves=20
)
raw = values.map(lambda value: value if isinstance(value, str) else json.dumps(value)) | st.text(
    '{}[]":,0 ', max_size=9
)
entries = st.dictionaries(st.sampled_from([*TOP_KEYS, *SECRET_KEYS]) | texts.map(lambda key: f"home:{key}"), raw)
# Long enough not to stand in a sentence by chance.
secrets = st.text(string.ascii_letters + string.digits, min_size=12, max_size=200)


def outcome(config: StackConfig) -> str:
    """The sentences, or nothing; anything but a PlatformError fails the test."""
    try:
        parse(config)
    except PlatformError as error:
        assert error.sentences
        return "\n".join(error.sentences)
    return ""


@settings(max_examples=250, deadline=None, derandomize=True)
@given(values=entries, encrypted=st.sets(st.sampled_from([*TOP_KEYS, *SECRET_KEYS])))
def test_any_value_leads_to_settings_or_to_printable_sentences(values: dict[str, str], encrypted: set[str]) -> None:
    text = outcome(StackConfig(stack="dev", values=values, encrypted=encrypted & values.keys()))
    assert not re.search(r"must be (Input|a valid|an instance)", text)
    assert all(sentence.isprintable() for sentence in text.split("\n"))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    values=entries,
    secret=secrets,
    # Encrypted where no secret belongs, the value is still not shown.
    place=st.sampled_from(
        [*((key, True) for key in TOP_KEYS), *((key, flag) for key in SECRET_KEYS for flag in (True, False))]
    ),
    shape=st.sampled_from(
        ["SECRET", '{"secure": "SECRET", "x": 1}', '["SECRET"]', '{"SECRET": 1', '{"url": "SECRET"}']
    ),
)
def test_no_secret_is_ever_shown(values: dict[str, str], secret: str, place: tuple[str, bool], shape: str) -> None:
    key, is_encrypted = place
    held = {**values, key: shape.replace("SECRET", secret)}
    assert secret not in outcome(StackConfig(stack="dev", values=held, encrypted={key} if is_encrypted else set()))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(key=st.sampled_from(TOP_KEYS), around=texts, body=secrets)
def test_key_material_in_any_other_key_is_not_shown(key: str, around: str, body: str) -> None:
    for header in ("-----BEGIN OPENSSH PRIVATE KEY-----\n", "AGE-SECRET-KEY-1"):
        held: dict[str, Any] = {key: json.dumps(around)[1:-1] + header + body}
        assert body not in outcome(StackConfig(stack="dev", values=held, encrypted=set()))


def test_deep_nesting_is_a_mistake_not_a_crash() -> None:
    text = outcome(StackConfig(stack="dev", values={"home:git": "[" * 100_000}, encrypted=set()))
    assert "home:git is " in text


def test_half_a_surrogate_pair_in_a_key_is_an_unknown_key() -> None:
    values = {"home:\ud800": "x", "home:git": '{"\\ud800": 1}'}
    text = outcome(StackConfig(stack="dev", values=values, encrypted=set()))
    assert 'home:"?" is not a known key' in text
    assert 'home:git."?" is not a known key' in text
