"""`make bench`: brings the dev stack up on an embedded cluster of its own and measures."""

from __future__ import annotations

import json
import os
import statistics
import sys
from dataclasses import asdict, replace
from pathlib import Path

from rich.table import Table

from benchmarks.measure import Figure, medians, ratio, seconds
from platformctl import console, tools
from platformctl.deploy import flow
from platformctl.paths import CHECKOUT
from platformctl.render import manifests
from platformctl.render.recorder import Recording, record
from platformctl.stackfile import stack_config

BARE = CHECKOUT / "benchmarks" / "bare"


def main() -> int:
    """Prints a table of figures and whether each goal is met."""
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    platform = flow.deployment("dev", "bench")
    bare = _bare("bench-bare")
    recording = record(stack_config("dev", assume_secrets=True))
    (platform.cluster.reset(), bare.cluster.reset())
    try:
        figures = [_render(rounds), _make_up(platform), *_engine(platform, bare, recording, rounds)]
    finally:
        (platform.cluster.reset(), bare.cluster.reset())
    _print(sorted(figures, key=lambda figure: figure.id))
    return 0


def _render(rounds: int) -> Figure:
    render = "from platformctl.render.recorder import record; from platformctl.stackfile import stack_config; "
    render += "[record(stack_config(stack, assume_secrets=True)) for stack in ('dev', 'prod')]"
    sdks = "import pulumi, pulumi_kubernetes, pulumi_random"
    left, right = medians(lambda: _python(render), lambda: _python(sdks), rounds=rounds)
    return ratio("P3", "render of both stacks / importing the SDKs", 3, left, right)


def _python(code: str) -> float:
    return seconds([sys.executable, "-c", code], env=os.environ, cwd=CHECKOUT)


def _make_up(platform: flow.Deployment) -> Figure:
    command = [sys.executable, "-m", "platformctl", "up", "--stack", "dev", "--name", platform.cluster.name]
    taken = seconds(command, env=os.environ, cwd=CHECKOUT)
    detail = "warm tools, new cluster and stack"
    return Figure(id="P7", what="make up", value=taken, goal=60, unit=" s", detail=detail)


def _bare(name: str) -> flow.Deployment:
    """The bare program on a cluster of its own, since two stacks cannot own the same objects."""
    like = flow.deployment("dev", name)
    return replace(like, engine=replace(like.engine, program=BARE))


def _engine(platform: flow.Deployment, bare: flow.Deployment, recording: Recording, rounds: int) -> list[Figure]:
    registrations = bare.cluster.layout.state / "registrations.json"
    bare.cluster.up()
    bare.engine.prepare()
    registrations.write_text(json.dumps([asdict(found) for found in recording.registrations], default=sorted))
    os.environ["BARE_REGISTRATIONS"] = str(registrations)
    bare.engine.run(["pulumi", "stack", "init", "dev", "--non-interactive"])
    up, preview = ("up", "--yes", "--skip-preview"), ("preview",)
    _run(bare, *up)
    previews = medians(lambda: _run(platform, *preview), lambda: _run(bare, *preview), rounds=rounds)
    ups = medians(lambda: _run(platform, *up), lambda: _run(bare, *up), rounds=rounds)
    rendered = bare.cluster.layout.state / "rendered.yaml"
    rendered.write_text(manifests.dump(found.inputs for found in recording.manifests))
    dry_run = statistics.median(_dry_run(platform, rendered) for _ in range(rounds))
    return [
        ratio("P1", "preview / bare program's preview", 1.10, *previews),
        ratio("P2", "preview / server-side dry run by kubectl", 0.5, previews[0], dry_run),
        ratio("P5", "second up / bare program's second up", 1.1, *ups),
    ]


def _run(target: flow.Deployment, operation: str, *options: str) -> float:
    engine = target.engine
    return seconds(engine.operation(operation, *options), env=engine.environment, cwd=engine.project)


def _dry_run(platform: flow.Deployment, rendered: Path) -> float:
    kubectl = str(tools.ensure(["kubectl"])["kubectl"])
    command = [kubectl, "apply", "--server-side", "--force-conflicts", "--dry-run=server", f"--filename={rendered}"]
    return seconds(command, env=platform.engine.environment, cwd=CHECKOUT)


def _print(figures: list[Figure]) -> None:
    table = Table("", "what", "measured", "goal", "", "detail", box=None, pad_edge=False)
    for figure in figures:
        measured, goal = (f"{value:.2f}{figure.unit}" for value in (figure.value, figure.goal))
        table.add_row(figure.id, figure.what, measured, f"<= {goal}", "met" if figure.met else "missed", figure.detail)
    console.out.print(table)


if __name__ == "__main__":
    sys.exit(main())
