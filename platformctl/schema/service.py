"""The JSON Schema of a service's file, made from the model that the program validates."""

from __future__ import annotations

from typing import Any

from components.services.definition import ServiceDefinition
from platformctl.schema.generator import DRAFT, PlainSchema


def service_schema() -> dict[str, Any]:
    """The whole of services/<name>.yaml."""
    schema = ServiceDefinition.model_json_schema(by_alias=True, schema_generator=PlainSchema)
    return {"$schema": DRAFT, **schema, "title": "Service"}
