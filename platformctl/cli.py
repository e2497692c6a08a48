"""`platformctl`: each area brings its own commands; heavy imports happen inside them."""

from __future__ import annotations

import sys

import typer

from components.errors import PlatformError
from platformctl import console
from platformctl.check import check
from platformctl.deploy import cli as deploy_cli
from platformctl.local import cli as local_cli
from platformctl.render import chart_values_cli
from platformctl.render import cli as render_cli
from platformctl.schema import cli as schema_cli
from platformctl.secret import cli as secret_cli
from platformctl.tools import cli as tools_cli

app = typer.Typer(
    name="platformctl",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Helpers around the home platform's Pulumi program.",
)
app.command("up")(deploy_cli.up)
app.command("preview")(deploy_cli.preview)
app.command("destroy")(deploy_cli.destroy)
app.command("render")(render_cli.render)
app.command("chart-values")(chart_values_cli.chart_values)
app.command("check")(check)
app.command("tools")(tools_cli.tools)
app.add_typer(local_cli.app, name="local")
app.add_typer(secret_cli.app, name="secret")
app.add_typer(schema_cli.app, name="schema")


def main() -> None:
    """Runs the CLI; a user's mistake is one sentence each and exit code 1, Ctrl-C is 130."""
    try:
        app()
    except PlatformError as error:
        for sentence in error.sentences:
            console.fail(sentence)
        sys.exit(1)
    except KeyboardInterrupt:
        console.fail("interrupted")
        sys.exit(130)


if __name__ == "__main__":
    main()
