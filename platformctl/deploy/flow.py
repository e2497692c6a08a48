"""From a checkout to a deployed stack: what will be declared, tools, cluster, engine, summary."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from components.errors import PlatformError
from components.settings import NAMESPACE
from platformctl import console, tools
from platformctl.deploy import leftovers, stack_config, summary
from platformctl.deploy.engine import Engine
from platformctl.local.cluster import Cluster
from platformctl.local.keys import throwaway_keys
from platformctl.local.stack import cluster_context
from platformctl.render import overview
from platformctl.render.recorder import record
from platformctl.stackfile import stack_config as read_stack_config


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A stack on the embedded cluster of the same name."""

    stack: str
    cluster: Cluster
    engine: Engine


def deployment(stack: str, name: str) -> Deployment:
    """Builds missing tools; starts nothing."""
    context = cluster_context(stack, name)
    cluster = Cluster(name, context=context, report=console.note)
    engine = Engine(
        stack=stack,
        directory=cluster.layout.state / "pulumi",
        kubeconfig=cluster.kubeconfig,
        tools=tools.environment(tools.ensure()),
    )
    return Deployment(stack=stack, cluster=cluster, engine=engine)


def announce(stack: str) -> None:
    """Prints what the stack declares, from an offline render, before anything slow begins."""
    recording = record(read_stack_config(stack, assume_secrets=True))
    console.out.print(overview.table(recording))
    for message in recording.messages:
        console.note(message)


def start(target: Deployment) -> None:
    """Brings the cluster up and the stack's configuration up to date."""
    target.cluster.up()
    target.engine.prepare()
    keys = throwaway_keys(target.cluster.layout.keys)
    secrets = {f"{NAMESPACE}:deployKey": keys.deploy_private_key, f"{NAMESPACE}:ageKey": keys.age_private_key}
    stack_config.write(target.engine, secrets)


def run(target: Deployment, operation: str, options: Sequence[str]) -> None:
    """Runs preview, up or destroy with the engine's own output. Raises PlatformError when it fails."""
    command = target.engine.operation(operation, *options)
    result = subprocess.run(command, env=target.engine.environment, cwd=target.engine.project, check=False)
    if result.returncode:
        raise PlatformError(
            f"pulumi {operation} of stack {target.stack} failed, its messages stand above; "
            f"the cluster's logs are in {target.cluster.layout.logs}, and the same command goes on where this one ended"
        )


def report_leftovers(target: Deployment) -> None:
    """Prints what a destroy left in the cluster on purpose."""
    with target.cluster.api() as api:
        leftovers.show(api, record(read_stack_config(target.stack, assume_secrets=True)))


def report(target: Deployment) -> None:
    """Prints what runs, what of it is simulated, and where to look."""
    with target.cluster.api() as api:
        summary.show(api, target)
