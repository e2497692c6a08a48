"""A stack with services of the tests' own instead of those in the checkout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from components import household
from components.household import Household
from components.settings import Settings
from platformctl.render.recorder import Recording, record
from platformctl.stackfile import stack_config
from tests.altered import recorded

FIXTURES = Path(__file__).parent / "household"


def record_household(
    root: Path, stack: str = "dev", changes: Mapping[str, Mapping[str, Any]] | None = None
) -> Recording:
    """What the stack declares with the services below `root/services`, its values changed as by `altered.recorded`."""

    def load(_: Path, settings: Settings) -> Household:
        return original(root, settings)

    original = household.load
    with mock.patch.object(household, "load", load):
        return recorded(stack, changes) if changes else record(stack_config(stack, assume_secrets=True))
