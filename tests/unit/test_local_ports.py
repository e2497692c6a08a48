"""Ports of the embedded clusters."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from platformctl.local import ports


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ports.json"


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        yield server.getsockname()[1]


def test_ports_are_chosen_once_and_remembered(file: Path) -> None:
    first = ports.choose(file, ["a", "b"], held=[], others=[])
    assert len(set(first.values())) == 2
    assert all(ports.is_free(port) for port in first.values())
    assert ports.choose(file, ["a", "b"], held=[], others=[]) == first == ports.read(file)


def test_only_a_port_that_is_taken_is_replaced(file: Path) -> None:
    first = ports.choose(file, ["a", "b"], held=[], others=[])
    with socket.create_server((ports.LOOPBACK, first["a"])):
        second = ports.choose(file, ["a", "b"], held=[], others=[])
    assert second["a"] != first["a"]
    assert second["b"] == first["b"]


def test_a_port_that_our_own_process_holds_is_kept(file: Path) -> None:
    first = ports.choose(file, ["a"], held=[], others=[])
    with socket.create_server((ports.LOOPBACK, first["a"])):
        assert ports.choose(file, ["a"], held=["a"], others=[]) == first


def test_the_ports_of_a_cluster_that_is_down_are_left_to_it(file: Path, tmp_path: Path) -> None:
    first = ports.choose(file, ["a"], held=[], others=[])
    other = tmp_path / "other.json"
    other.write_text(file.read_text())
    assert ports.choose(other, ["a"], held=[], others=[file])["a"] != first["a"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": "text"}'])
def test_a_damaged_file_is_replaced(file: Path, content: str) -> None:
    file.write_text(content)
    assert ports.is_free(ports.choose(file, ["a"], held=[], others=[])["a"])


def test_is_free_sees_a_listener_but_not_a_closed_connection(listener: int) -> None:
    assert not ports.is_free(listener)
    server = socket.create_server((ports.LOOPBACK, 0))
    port = server.getsockname()[1]
    client = socket.create_connection((ports.LOOPBACK, port))
    accepted, _ = server.accept()
    # the server's side closes first and stays in TIME_WAIT
    accepted.close()
    client.close()
    server.close()
    assert ports.is_free(port)
