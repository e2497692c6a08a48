"""`platformctl tools`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from platformctl import console
from platformctl.tools import find, links, provide
from platformctl.tools.catalogue import TOOLS, select
from platformctl.tools.find import Located
from platformctl.tools.progress import expectation


def tools(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Only these tools.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="Show each tool's place, build nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Find or build the programs behind `make up`: engine, providers, control plane.

    A tool on PATH of a fitting version is used. Every other one is built from
    the Go modules pinned below tools/, one at a time and once per machine:
    about 13 minutes for all on two cores, under a second when they are there.
    PLATFORM_TOOLS=build ignores what is on PATH.

    Without names: what the embedded cluster needs. sops, kubeconform, actionlint,
    kyverno and oauth2-proxy are built only when named.

    Examples: platformctl tools, platformctl tools --list, platformctl tools sops
    """
    wanted = names or None
    if list_only:
        located = find.locate(select(wanted) if wanted else TOOLS)
    else:
        located = provide.obtain(wanted)
        links.environment({place.tool.name: place.path for place in located if place.path})
    _print_json(located) if as_json else _print_table(located)
    if not list_only and not as_json:
        console.note(f'To use them in this shell: export PATH="{find.links()}:$PATH"')


def _print_table(located: Sequence[Located]) -> None:
    rows = [("TOOL", "VERSION", "SOURCE", "PATH"), *(_row(place) for place in located)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        console.out.print("  ".join([*cells, row[3]]).rstrip(), markup=False, soft_wrap=True)
    for place in located:
        if place.refused:
            console.note(place.refused)


def _row(place: Located) -> tuple[str, str, str, str]:
    path = str(place.path) if place.path else f"a build takes about {expectation(place.tool.expected_seconds)}"
    return place.tool.name, place.version, place.source, path


def _print_json(located: Sequence[Located]) -> None:
    rows = [
        {
            "name": place.tool.name,
            "version": place.version,
            "source": place.source,
            "path": str(place.path) if place.path else None,
            "expected_seconds": place.tool.expected_seconds,
            "embedded": place.tool.embedded,
            "refused": place.refused or None,
        }
        for place in located
    ]
    console.out.print(json.dumps(rows, indent=2), markup=False, soft_wrap=True)
