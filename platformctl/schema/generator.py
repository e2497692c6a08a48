"""How our models become JSON Schemas: what pydantic makes, without what only repeats or hides."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

# The newest draft that yaml-language-server fully understands.
DRAFT = "http://json-schema.org/draft-07/schema#"


class PlainSchema(GenerateJsonSchema):
    """Without a title on every field, which would only repeat its key; an optional field keeps its description."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        """The description moves up from the alternative that has one, to where editors look."""
        found = super().nullable_schema(schema)
        for alternative in found.get("anyOf", []):
            if description := alternative.pop("description", None):
                found["description"] = description
        return found
