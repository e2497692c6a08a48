"""Clusters for the tests: real binaries, data in a temporary directory, nothing left behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from platformctl.local.cluster import Cluster
from platformctl.local.control_plane import BINARIES
from platformctl.tools import ensure

NewCluster = Callable[..., Cluster]


@pytest.fixture(scope="session")
def binaries() -> Mapping[str, Path]:
    """The pinned control plane, built on first use."""
    return ensure(list(BINARIES))


@pytest.fixture(scope="session")
def state_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tests' clusters live, side by side."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def cli_environment(state_root: Path) -> dict[str, str]:
    """The environment in which the command line works on the tests' clusters."""
    return {**os.environ, "PLATFORM_STATE_DIR": str(state_root)}


def _factory(binaries: Mapping[str, Path], state_root: Path) -> Iterator[NewCluster]:
    made: list[Cluster] = []

    def new(name: str, **options: Any) -> Cluster:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PLATFORM_STATE_DIR", str(state_root))
            made.append(Cluster(name, binaries=binaries, **options))
        return made[-1]

    yield new
    for cluster in made:
        cluster.reset()


@pytest.fixture(scope="session")
def session_cluster(binaries: Mapping[str, Path], state_root: Path) -> Iterator[NewCluster]:
    """Makes clusters that are removed at the end of the session."""
    yield from _factory(binaries, state_root)


@pytest.fixture
def new_cluster(binaries: Mapping[str, Path], state_root: Path) -> Iterator[NewCluster]:
    """Makes clusters that are removed, with their data, at the end of the test."""
    yield from _factory(binaries, state_root)


@pytest.fixture(scope="session")
def shared(session_cluster: NewCluster) -> Cluster:
    """One cluster that runs for the whole session; tests leave it running and clean up what they create."""
    cluster = session_cluster("shared", context="home-shared")
    cluster.up()
    return cluster
