"""`platformctl chart-values`."""

from __future__ import annotations

import os

import typer

from platformctl import console


def chart_values() -> None:
    """Holds every value that our HelmReleases set against the values.yaml and schema of the pinned charts.

    Their files come from UPSTREAM_MIRROR, the download cache or the network. Where none has them the release is
    named and left out; with CI=true that is a failure. Exit code 1 when a value is wrong.
    """
    from platformctl.render.chart_values import ChartValues, releases
    from platformctl.render.recorder import record
    from platformctl.stackfile import stack_config, stacks

    check = ChartValues()
    findings = [
        (stack, check.check(release))
        for stack in stacks()
        for release in releases(record(stack_config(stack, assume_secrets=True)))
    ]
    unseen = [finding for _, finding in findings if finding.unreachable]
    for note in dict.fromkeys(note for _, finding in findings if not finding.unreachable for note in finding.notes):
        console.note(note)
    if unseen:
        charts = ", ".join(dict.fromkeys(finding.release.chart for finding in unseen))
        console.note(f"not looked at: {charts}; {unseen[0].notes[0]}")
    problems = [
        f"Pulumi.{stack}.yaml: HelmRelease {finding.release.name}: {problem}"
        for stack, finding in findings
        for problem in finding.problems
    ]
    for problem in problems:
        console.fail(problem)
    console.out.print(f"{len(findings) - len(unseen)} of {len(findings)} releases looked at, {len(problems)} mistakes")
    if problems or (unseen and os.environ.get("CI")):
        raise typer.Exit(1)
