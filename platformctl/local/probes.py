"""Readiness questions: each is a function that answers yes or not yet, and never raises for a server's absence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from ssl import SSLContext
from typing import Any

import httpx

from components.errors import PlatformError
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.kubeconfig import Connection

PROBE_SECONDS = 2.0

Probe = Callable[[], bool]


def https_ok(connection: Connection, path: str) -> Probe:
    """Whether the server answers 2xx on a path, over TLS that is verified against its CA."""

    @cache
    def context() -> SSLContext:
        return connection.ssl_context()

    def ready() -> bool:
        try:
            with httpx.Client(verify=context(), timeout=PROBE_SECONDS, trust_env=False) as client:
                return client.get(connection.server + path).is_success
        except httpx.HTTPError:
            return False

    return ready


def nodes_ready(kubeconfig: Path, names: Collection[str]) -> Probe:
    """Whether every named Node reports Ready."""

    def ready() -> bool:
        try:
            with KubeApi(kubeconfig, timeout_seconds=PROBE_SECONDS) as api:
                nodes = {node["metadata"]["name"]: node for node in api.list("v1", "Node")}
        except (ApiError, PlatformError):
            return False
        return all(name in nodes and _is_ready(nodes[name]) for name in names)

    return ready


def _is_ready(node: dict[str, Any]) -> bool:
    conditions: list[dict[str, Any]] = node.get("status", {}).get("conditions") or []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
