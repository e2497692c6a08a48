"""The JSON Schema of a stack file, made from the settings that the program validates."""

from __future__ import annotations

from typing import Any

from components.settings import CONFIG_SECRETS, NAMESPACE, Settings
from platformctl.schema.generator import DRAFT, PlainSchema


def stack_schema() -> dict[str, Any]:
    """The whole file: `config` with the program's keys, and what Pulumi itself keeps next to it."""
    settings = Settings.model_json_schema(by_alias=True, schema_generator=PlainSchema)
    return {
        "$schema": DRAFT,
        "title": "Stack file",
        "description": "Pulumi.<stack>.yaml: everything that one stack of the home platform decides.",
        "type": "object",
        "required": ["config"],
        "properties": {"config": _config(settings), **_PULUMIS_OWN},
        "additionalProperties": False,
        "$defs": settings["$defs"],
    }


def _config(settings: dict[str, Any]) -> dict[str, Any]:
    own = {f"{NAMESPACE}:{key}": schema for key, schema in settings["properties"].items()}
    secrets = {f"{NAMESPACE}:{secret.key}": _secret(secret.meaning) for secret in CONFIG_SECRETS}
    return {
        "description": "What this program reads (home:…) and what Pulumi and its providers read.",
        "type": "object",
        "required": [f"{NAMESPACE}:{key}" for key in settings["required"]],
        "properties": {**own, **secrets},
        # Pulumi and its providers keep keys of their own here, such as pulumi:disable-default-providers.
        "patternProperties": {f"^(?!{NAMESPACE}:)[^:]+:[^:]+$": {}},
        "additionalProperties": False,
    }


def _secret(meaning: str) -> dict[str, Any]:
    return {
        "description": f"{meaning}, encrypted by `pulumi config set --secret`",
        "type": "object",
        "required": ["secure"],
        "properties": {"secure": {"type": "string", "minLength": 1}},
        "additionalProperties": False,
    }


_PULUMIS_OWN: dict[str, Any] = {
    "secretsprovider": {"type": "string", "description": "what encrypts this stack's secrets; written by Pulumi"},
    "encryptedkey": {"type": "string", "description": "the data key of a cloud secrets provider; written by Pulumi"},
    "encryptionsalt": {"type": "string", "description": "the salt of the passphrase; written by Pulumi"},
    "environment": {"description": "Pulumi ESC environments"},
}
