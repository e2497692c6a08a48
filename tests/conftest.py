"""Fixtures that every test may ask for."""

from __future__ import annotations

import pytest

from platformctl.render.recorder import Recording, record
from platformctl.stackfile import stack_config


@pytest.fixture(scope="session")
def recordings() -> dict[str, Recording]:
    """Both stacks under the recorder."""
    return {stack: record(stack_config(stack, assume_secrets=True)) for stack in ("dev", "prod")}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Goldens are rewritten on request only."""
    parser.addoption("--update-goldens", action="store_true", help="rewrite tests/golden from what is rendered now")
