"""What the embedded cluster needs to know of a stack file; read as plain YAML, without Pulumi."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import yaml

from components.errors import PlatformError
from platformctl import paths

CLUSTER_KEY = "home:cluster"


def cluster_context(stack: str, name: str, checkout: Path = paths.CHECKOUT) -> str:
    """The kubeconfig context that the stack's program looks for; home-<name> where there is no such stack file."""
    file = checkout / f"Pulumi.{stack}.yaml"
    try:
        document: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"home-{name}"
    except yaml.YAMLError as error:
        raise PlatformError(f"{file.name}: this is not valid YAML: {' '.join(str(error).split())}.") from None
    context = _mapping(_mapping(_mapping(document).get("config")).get(CLUSTER_KEY)).get("context")
    if not isinstance(context, str) or not context:
        raise PlatformError(
            f"{file.name}: config.{CLUSTER_KEY}.context is {context!r}; it must be the name of a kubeconfig context, "
            f"for example home-{name}."
        )
    return context


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
