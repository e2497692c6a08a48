"""`platformctl up`, `preview` and `destroy`: the stack on the embedded cluster."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from platformctl import console

Stack = Annotated[str, typer.Option("--stack", "-s", help="Which Pulumi.<stack>.yaml.")]
Name = Annotated[str | None, typer.Option("--name", "-n", help="Which embedded cluster. [default: the stack's name]")]


def up(stack: Stack = "dev", name: Name = None) -> None:
    """Brings the stack up on an embedded cluster: tools, cluster, `pulumi up`, and a summary.

    The first run builds tools from pinned Go modules where no official ones are on PATH; later runs take seconds.
    State, passphrase and kubeconfig are the embedded cluster's own; your Pulumi login and kubeconfig are not touched.
    """
    from platformctl.deploy import flow

    began = time.monotonic()
    flow.announce(stack)
    target = flow.deployment(stack, name or stack)
    flow.start(target)
    flow.run(target, "up", ["--yes", "--skip-preview", "--suppress-outputs", "--suppress-progress"])
    flow.report(target)
    console.note(f"stack {stack} is up after {time.monotonic() - began:.0f} s")


def preview(
    stack: Stack = "dev", name: Name = None, diff: Annotated[bool, typer.Option(help="Show fields.")] = False
) -> None:
    """Shows what `up` would change on the embedded cluster."""
    from platformctl.deploy import flow

    target = flow.deployment(stack, name or stack)
    flow.start(target)
    flow.run(target, "preview", ["--diff"] if diff else [])


def destroy(stack: Stack = "dev", name: Name = None) -> None:
    """Destroys the stack on the embedded cluster and lists what stays on purpose."""
    from platformctl.deploy import flow

    target = flow.deployment(stack, name or stack)
    flow.start(target)
    # With its preview: it refuses protected parts before anything is deleted.
    flow.run(target, "destroy", ["--yes", "--suppress-outputs", "--suppress-progress"])
    flow.report_leftovers(target)
