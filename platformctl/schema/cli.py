"""`platformctl schema`: the JSON Schema of each kind of file that people write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from components.errors import PlatformError
from platformctl import console

app = typer.Typer(no_args_is_help=True, help="Print, publish or check the JSON Schema of a kind of file.")

Write = Annotated[bool, typer.Option("--write", help="Publish it in schemas/ instead of printing it.")]
Check = Annotated[bool, typer.Option("--check", help="Fail if the published one is not current.")]


@app.command("stack")
def stack(write: Write = False, check: Check = False) -> None:
    """The schema of Pulumi.<stack>.yaml."""
    from platformctl.schema.stack import stack_schema

    _serve("stack", stack_schema(), write=write, check=check)


@app.command("service")
def service(write: Write = False, check: Check = False) -> None:
    """The schema of services/<name>.yaml."""
    from platformctl.schema.service import service_schema

    _serve("service", service_schema(), write=write, check=check)


def _serve(name: str, document: Mapping[str, Any], *, write: bool, check: bool) -> None:
    from platformctl.schema import published

    if write and check:
        raise PlatformError("--write and --check exclude each other; give one of them")
    if write:
        console.note(f"wrote {published.write(name, document)}")
    elif check:
        published.check(name, document)
    else:
        console.out.print(published.as_text(document), markup=False, soft_wrap=True, end="")
