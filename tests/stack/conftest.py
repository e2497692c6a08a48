"""The dev stack, brought up once by the real engine on an embedded cluster of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from platformctl.deploy import flow
from tests.stack.engine_run import UP, Outcome, operate


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A stack that is up, and how it came up."""

    target: flow.Deployment
    first_up: Outcome
    log: Path

    def operate(self, operation: str, *options: str) -> Outcome:
        """Runs one more operation."""
        return operate(self.target.engine, operation, *options, log=self.log)


@pytest.fixture(scope="session")
def state_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Clusters and state of these tests lie outside the checkout."""
    directory = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLATFORM_STATE_DIR", str(directory))
        yield directory


@pytest.fixture(scope="session")
def bring_up(state_directory: Path) -> Iterator[Callable[[str, str], Deployed]]:
    """Brings a stack up on a cluster by name; all of them are gone at the end."""
    targets: list[flow.Deployment] = []

    def bring(stack: str, name: str) -> Deployed:
        target = flow.deployment(stack, name)
        targets.append(target)
        flow.start(target)
        log = state_directory / f"{name}-events.json"
        outcome = operate(target.engine, *UP, log=log)
        assert outcome.returncode == 0, outcome.output
        return Deployed(target=target, first_up=outcome, log=log)

    yield bring
    for target in targets:
        target.cluster.reset()


@pytest.fixture(scope="session")
def dev(bring_up: Callable[[str, str], Deployed]) -> Deployed:
    """The dev stack; tests leave it as they found it."""
    return bring_up("dev", "stack-tests")
