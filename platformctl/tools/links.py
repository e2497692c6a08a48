"""The checkout's directory of links: where `pulumi` finds its plugins, and a person the tools."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from platformctl.tools import find
from platformctl.tools.catalogue import LANGUAGE_HOST


def write_language_host() -> Path:
    """Writes the wrapper that `pulumi` starts as its Python language host; it names this checkout's interpreter.

    -P keeps this package's directory out of sys.path, where its modules would hide others of the same name.
    """
    program = Path(__file__).with_name("language_host.py")
    script = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -u -P {shlex.quote(str(program))} "$@"\n'
    target = find.links() / LANGUAGE_HOST
    if not target.is_file() or target.read_text(encoding="utf-8") != script:
        _put(target, lambda new: _write(new, script))
    return target


def environment(paths: Mapping[str, Path]) -> dict[str, str]:
    """PATH with the directory of links in front; a tool that PATH already serves gets none."""
    directory, outside = find.links(), find.foreign_path()
    for name, path in paths.items():
        link = directory / name
        if path == link:
            continue
        if shutil.which(name, path=outside) == str(path):
            link.unlink(missing_ok=True)
        elif not link.exists() or not link.samefile(path):
            _put(link, lambda new, target=path: _link(new, target))
    return {"PATH": os.pathsep.join([str(directory), outside])}


def _write(new: Path, script: str) -> None:
    new.write_text(script, encoding="utf-8")
    new.chmod(0o755)


def _link(new: Path, target: Path) -> None:
    """A symbolic link; for `pulumi` a hard one where the file system allows it.

    `pulumi` warns at each run about a language host that does not lie beside its executable's resolved path.
    """
    if target.name == "pulumi":
        with contextlib.suppress(OSError):
            new.hardlink_to(target)
            return
    new.symlink_to(target)


def _put(target: Path, write: Callable[[Path], object]) -> None:
    """Replaces a file or link in one step, so that a run beside this one never finds it missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / find.LINKS_MARKER).touch()
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        new = Path(scratch) / target.name
        write(new)
        new.replace(target)
