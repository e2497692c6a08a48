"""`platformctl secret`: the Secrets of a stack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.errors import PlatformError
from platformctl import console, paths

if TYPE_CHECKING:
    from platformctl.secret.request import Registry
    from platformctl.secret.sops import Sops

app = typer.Typer(no_args_is_help=True, help="Secrets in git: encrypted with SOPS for each stack's age key.")

Stack = Annotated[str, typer.Option("--stack", "-s", help="Which stack, as in Pulumi.<stack>.yaml.")]


@app.command("set")
def set_command(
    name: Annotated[str, typer.Argument(help="namespace/name, as `platformctl secret list` shows it.")],
    stack: Stack,
    key: Annotated[
        list[str] | None, typer.Option(help="Set this key alone and keep the others. May be repeated.")
    ] = None,
    from_file: Annotated[list[str] | None, typer.Option(metavar="KEY=PATH", help="Take a key from a file.")] = None,
    extra: Annotated[
        bool, typer.Option("--extra", help="A Secret or key of your own, which nothing here reads.")
    ] = False,
) -> None:
    """Creates or updates one encrypted Secret file; without --key all that the platform needs is set.

    Values are asked for without echo, or read from standard input: one key takes all of it, several take a line each.

    Example: `platformctl secret set cert-manager/cloudflare-api-token --stack dev < token.txt`
    """
    from platformctl.secret import stacks, store, values
    from platformctl.secret.request import request

    root = paths.CHECKOUT
    stacks.require_stack(root, stack)
    files = values.files_by_key(from_file or [])
    wanted = request(_registry(), stack, name, key or [], files, extra=extra)
    path = store.set_secret(root, wanted, lambda: _sops(root), lambda: values.read_values(wanted.keys, files))
    console.note(
        f"{path.relative_to(root).as_posix()}: {', '.join(wanted.keys)} set and encrypted; "
        "commit and push it, Flux brings it to the cluster"
    )


@app.command("list")
def list_command(stack: Stack) -> None:
    """Shows each Secret: its keys, who provides it, what needs it, and whether it is there. Never a value."""
    from platformctl.secret import listing, stacks

    stacks.require_stack(paths.CHECKOUT, stack)
    table = [("SECRET", "KEYS", "PROVIDED BY", "NEEDED BY", "STATE")]
    for row in listing.rows(paths.CHECKOUT, stack, _registry()):
        table.append((row.at, ",".join(row.keys), row.provider, row.needed_by, row.state))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        console.out.print("  ".join(cells).rstrip(), markup=False, soft_wrap=True)


@app.command("check")
def check_command() -> None:
    """Checks the Secret files of every stack without any key: encrypted, in their place, complete, provided once."""
    from platformctl.secret import stacks
    from platformctl.secret.check import check

    count = check(paths.CHECKOUT, _registry())
    console.note(f"{count} Secret files of the stacks {', '.join(stacks.stacks(paths.CHECKOUT))} are in order")


@app.command("keygen")
def keygen_command(
    stack: Stack,
    out: Annotated[Path | None, typer.Option(help="A new file outside of the checkout for the private key.")] = None,
    show: Annotated[bool, typer.Option("--print", help="Print the private key to standard output instead.")] = False,
) -> None:
    """Makes the stack's age key and writes its recipient, the public half, into .sops.yaml."""
    from platformctl.secret import stacks
    from platformctl.secret.keygen import keygen

    if (out is None) != show:
        raise PlatformError("name where the private key goes: either --out FILE, or --print for standard output")
    stacks.require_stack(paths.CHECKOUT, stack)
    recipient, identity = keygen(paths.CHECKOUT, stack, out)
    if show:
        typer.echo(identity, nl=False)
    console.note(f".sops.yaml: {recipient} is the recipient of stack {stack}; keep a copy of the private key offline")
    console.note(f"next: pulumi config set --secret home:ageKey --stack {stack} < {out or 'FILE'}")
    console.note(f"then: platformctl secret set NAME --stack {stack}, for each SOPS file of `platformctl secret list`")


def _registry() -> Registry:
    from components.registry import CONFIG_KEYS, all_uses
    from platformctl.secret.request import Registry

    return Registry(uses=all_uses(paths.CHECKOUT), config_keys=CONFIG_KEYS)


def _sops(root: Path) -> Sops:
    from platformctl.secret.sops import Sops
    from platformctl.tools import ensure

    return Sops(binary=ensure(["sops"])["sops"], root=root)
