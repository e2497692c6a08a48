"""`platformctl local`: the embedded cluster for people; what is heavy to import is imported in the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.errors import PlatformError
from platformctl import console
from platformctl.local.layout import DEFAULT_NAME

if TYPE_CHECKING:
    from platformctl.local.cluster import Cluster
    from platformctl.local.status import ClusterStatus

EXIT_NOT_RUNNING = 3
DEFAULT_STACK = "dev"

app = typer.Typer(
    no_args_is_help=True,
    help="""A Kubernetes control plane on this machine, for trying the platform without a cluster.

    etcd, kube-apiserver and kube-controller-manager are the real ones: TLS, RBAC, every API. Nodes and what runs on
    them are simulated by kwok and by our own controllers; no container is ever started. Everything listens on
    127.0.0.1 and lives below .local/NAME in the checkout ($PLATFORM_STATE_DIR/NAME if that is set).
    """,
    epilog="Typical: `platformctl local up`, `export KUBECONFIG=$(platformctl local kubeconfig)`, `kubectl get nodes`.",
)

Name = Annotated[str, typer.Option("--name", "-n", help="Which cluster; several can run side by side.")]


@app.command()
def up(
    name: Name = DEFAULT_NAME,
    stack: Annotated[
        str, typer.Option(help="The stack whose cluster.context names the kubeconfig's context.")
    ] = DEFAULT_STACK,
    context: Annotated[str | None, typer.Option(help="Another name for the kubeconfig's context.")] = None,
    node: Annotated[
        list[str] | None, typer.Option(help="A simulated node; repeat. [default: node-a to node-c]")
    ] = None,
    seed: Annotated[int, typer.Option(help="Shuffles the simulation's delays; the same seed, the same order.")] = 0,
    feature_gate: Annotated[
        list[str] | None, typer.Option(metavar="GATE=true|false", help="A Kubernetes feature gate; repeat.")
    ] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Write who did what to logs/audit.log.")] = False,
) -> None:
    """Start the cluster, or whatever of it does not run as asked, and wait until it is ready.

    Ready within some 6 s. A second `up` changes nothing; after a crash it starts what is missing and keeps the data.
    """
    from platformctl.local.cluster import DEFAULT_NODES, Cluster
    from platformctl.local.stack import cluster_context

    cluster = Cluster(
        name,
        context=context or cluster_context(stack, name),
        nodes=node or DEFAULT_NODES,
        seed=seed,
        feature_gates=_feature_gates(feature_gate or []),
        audit=audit,
        report=console.note,
    )
    _print(cluster.up())


@app.command()
def down(name: Name = DEFAULT_NAME) -> None:
    """Stop the cluster's own processes; the data stays for the next `up`."""
    stopped = _cluster(name).down()
    names = ", ".join(running.name for running in stopped)
    console.note(f"{name}: stopped {names}" if names else f"{name}: nothing was running")


@app.command()
def status(
    name: Name = DEFAULT_NAME,
    as_json: Annotated[bool, typer.Option("--json", help="For programs, on standard output.")] = False,
) -> None:
    """Show what runs, since when, where it listens, and what is simulated.

    Exit code 0: all of it runs; 3: nothing or only a part runs.
    """
    found = _cluster(name).status()
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=2))
    else:
        _print(found)
    if not found.running:
        raise typer.Exit(EXIT_NOT_RUNNING)


@app.command()
def reset(
    name: Name = DEFAULT_NAME,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Stop the cluster and delete all that is kept under its name: data, kubeconfig, throw-away keys, Pulumi state."""
    cluster = _cluster(name)
    state = cluster.layout.state
    if not yes:
        typer.confirm(f"Delete {state} with everything in it?", abort=True, err=True)
    cluster.reset()
    console.note(f"{name}: {state} is gone")


@app.command()
def kubeconfig(
    name: Name = DEFAULT_NAME,
    content: Annotated[bool, typer.Option("--print", help="Its content instead (it holds a private key).")] = False,
) -> None:
    """Print the path of the cluster's kubeconfig, for KUBECONFIG=… or kubectl --kubeconfig."""
    path: Path = _cluster(name).kubeconfig
    if not path.exists():
        raise PlatformError(f"{path}: there is no kubeconfig; run `platformctl local up --name {name}` first.")
    typer.echo(path.read_text(encoding="utf-8") if content else path)


def _cluster(name: str) -> Cluster:
    from platformctl.local.cluster import Cluster

    return Cluster(name)


def _feature_gates(pairs: list[str]) -> dict[str, bool]:
    gates: dict[str, bool] = {}
    for pair in pairs:
        gate, _, value = pair.partition("=")
        if not gate or value not in ("true", "false"):
            raise PlatformError(f"--feature-gate {pair!r}: write it as GATE=true or GATE=false.")
        gates[gate] = value == "true"
    return gates


def _print(found: ClusterStatus) -> None:
    from rich.table import Table

    table = Table("process", "pid", "up since", "port", "memory", box=None, pad_edge=False)
    for process in found.processes:
        since = process.since.astimezone().strftime("%Y-%m-%d %H:%M:%S") if process.since else "not running"
        memory = f"{process.memory_bytes / 2**20:.0f} MiB" if process.memory_bytes else ""
        table.add_row(process.name, str(process.pid or ""), since, str(process.port or ""), memory)
    console.out.print(table)
    server = f"Kubernetes {found.version} on {found.server}" if found.version else "the API server does not answer"
    console.out.print(f"cluster {found.name}: {server}", markup=False, soft_wrap=True)
    if found.simulated_nodes:
        nodes = ", ".join(found.simulated_nodes)
        console.out.print(f"simulated: the nodes {nodes} and whatever runs on them", markup=False, soft_wrap=True)
    if found.kubeconfig.exists():
        console.out.print(f"kubeconfig: {found.kubeconfig}", markup=False, soft_wrap=True)
