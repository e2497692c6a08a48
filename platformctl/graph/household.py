"""Which components are things of the household itself, and not of the platform below them."""

from __future__ import annotations

from collections.abc import Mapping

HOUSEHOLD: Mapping[str, str] = {
    "home:platform:Service": "service",
    "home:platform:Machine": "machine",
}
"""By type token, what people call it. One component of such a type is one service or machine, by its name."""


def noun(type_token: str) -> str | None:
    """`service` or `machine`; None for a part of the platform."""
    return HOUSEHOLD.get(type_token)
