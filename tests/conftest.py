"""Fixtures that every test may ask for."""

from __future__ import annotations

from pathlib import Path

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


TESTS = Path(__file__).parent
# Longest first, so that no worker is left alone with them at the end.
FIRST = ("stack", "integration")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers side by side: tests of one file stay together for its fixtures, and all that share the deployed stack."""
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item.path.relative_to(TESTS))))


def _turn(item: pytest.Item) -> int:
    directory = item.path.relative_to(TESTS).parts[0]
    return FIRST.index(directory) if directory in FIRST else len(FIRST)


def _group(path: Path) -> str:
    return "stack" if path.parts[0] == "stack" else str(path)
