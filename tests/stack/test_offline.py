"""Previews without a usable cluster: from state alone, and where no CRD exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from platformctl.deploy import flow
from tests.stack.conftest import Deployed
from tests.stack.engine_run import operate

pytestmark = pytest.mark.cluster


def test_preview_works_from_state_while_the_api_server_is_down(dev: Deployed) -> None:
    dev.target.cluster.down()
    try:
        outcome = dev.operate("preview")
    finally:
        dev.target.cluster.up()
    assert outcome.returncode == 0, outcome.output
    assert outcome.counts.keys() <= {"same"}


def test_preview_of_a_new_stack_needs_no_crd(state_directory: Path) -> None:
    target = flow.deployment("dev", "stack-empty")
    try:
        flow.start(target)
        outcome = operate(target.engine, "preview", log=state_directory / "empty-events.json")
    finally:
        target.cluster.reset()
    assert outcome.returncode == 0, outcome.output
    assert set(outcome.counts) == {"create"}
