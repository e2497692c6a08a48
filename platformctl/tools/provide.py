"""Makes tools available: locates them, builds what is missing, writes the language host's wrapper."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from platformctl.tools import build, find, go, links, lock, pins
from platformctl.tools.catalogue import Tool, select
from platformctl.tools.find import Located
from platformctl.tools.progress import ConsoleProgress, Progress


def provide(names: Sequence[str] | None = None, *, progress: Progress | None = None) -> Mapping[str, Path]:
    """Each tool's executable by name, building what is missing; see `platformctl.tools.ensure`."""
    return {place.tool.name: place.path for place in obtain(names, progress=progress) if place.path}


def obtain(names: Sequence[str] | None = None, *, progress: Progress | None = None) -> list[Located]:
    """The same with each tool's source and version, all of them in place."""
    tools = select(names)
    located = find.locate(tools)
    if missing(located):
        _build(tools, progress or ConsoleProgress())
        located = find.locate(tools)
    if any(place.source == "stand-in" for place in located):
        links.write_language_host()
    return located


def missing(located: Sequence[Located]) -> list[Tool]:
    """The tools that are to be built."""
    return [place.tool for place in located if place.source == "missing"]


def _build(tools: Sequence[Tool], progress: Progress) -> None:
    """Builds what is still missing once the lock is held; another run may have built it meanwhile."""
    with lock.termination_as_interrupt(), lock.exclusive(find.cache(), progress.waiting):
        todo = missing(find.locate(tools))
        if not todo:
            return
        go.check(todo)
        build.sweep()
        progress.plan(todo)
        start = time.monotonic()
        for number, tool in enumerate(todo, 1):
            lock.announce(find.cache(), tool.name)
            _build_one(tool, f"{number}/{len(todo)}", progress)
        progress.finished(todo, time.monotonic() - start)


def _build_one(tool: Tool, place: str, progress: Progress) -> None:
    progress.started(tool, pins.pinned_version(tool), place)
    ok = False
    try:
        build.build(tool, progress.tick)
        ok = True
    finally:
        progress.ended(ok)
