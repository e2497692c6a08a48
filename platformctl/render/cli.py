"""`platformctl render`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from platformctl import console


def render(
    stack: Annotated[str, typer.Option("--stack", "-s", help="Which Pulumi.<stack>.yaml to render.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write <component>.yaml files. Default: an overview only."),
    ] = None,
) -> None:
    """Renders a stack's manifests with the same program, without cluster, login or network.

    Every secret is a reference such as <secret home:deployKey>. A pinned upstream file that is neither in the
    download cache nor in UPSTREAM_MIRROR is named and left out.
    """
    from platformctl.render import manifests, overview
    from platformctl.render.recorder import record
    from platformctl.stackfile import stack_config

    recording = record(stack_config(stack, assume_secrets=True))
    for message in recording.messages:
        console.note(message)
    console.out.print(overview.table(recording))
    if out:
        files = manifests.write(recording, out)
        console.note(f"{len(recording.manifests)} objects in {len(files)} files below {out}")
