"""Loopback ports of the embedded clusters: chosen once, remembered, and never another cluster's."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from components.errors import PlatformError
from platformctl.local.files import write_private

LOOPBACK = "127.0.0.1"
ATTEMPTS = 200


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now; a closed connection's remains do not count."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def read(file: Path) -> dict[str, int]:
    """The remembered ports by process name; empty if there are none yet or the file is damaged."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, ValueError):
        document: Any = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(document, dict):
            entries = cast("dict[str, Any]", document)
            return {name: port for name, port in entries.items() if isinstance(port, int)}
    return {}


def choose(file: Path, names: Iterable[str], *, held: Collection[str], others: Iterable[Path]) -> Mapping[str, int]:
    """Ports for `names`: the remembered one where it is `held` by our own process or free, else a new one.

    `others` are the files of the clusters side by side; their ports are left alone even while they are down.
    """
    remembered = read(file)
    taken = {port for other in others for port in read(other).values()}
    ports: dict[str, int] = {}
    for name in names:
        port = remembered.get(name)
        if port is None or not (name in held or (port not in taken and is_free(port))):
            port = _new(taken | set(ports.values()) | set(remembered.values()))
        ports[name] = port
    if ports != remembered:
        write_private(file, json.dumps(ports, indent=2) + "\n")
    return ports


def _new(avoid: Collection[int]) -> int:
    for _ in range(ATTEMPTS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((LOOPBACK, 0))
            port: int = probe.getsockname()[1]
        if port not in avoid:
            return port
    raise PlatformError(f"no free port was found on {LOOPBACK} after {ATTEMPTS} attempts; stop what listens there.")
