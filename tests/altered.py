"""A stack as it is in its file, with some values changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from components.contracts import merged
from platformctl.render.recorder import Recording, record
from platformctl.stackfile import stack_config


def recorded(stack: str, changes: Mapping[str, Mapping[str, Any]]) -> Recording:
    """What the stack declares with `changes`: by top-level key without `home:`, maps merged deeply."""
    config = stack_config(stack, assume_secrets=True)
    changed = {
        f"home:{key}": json.dumps(merged(json.loads(config.values[f"home:{key}"]), change))
        for key, change in changes.items()
    }
    return record(replace(config, values={**config.values, **changed}))
