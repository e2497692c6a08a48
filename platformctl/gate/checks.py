"""The gate: every check in the order in which it runs, fast ones first."""

from __future__ import annotations

from platformctl.gate import definitions, git_content, policies, rendered, renovate
from platformctl.gate.commands import command, script, with_tool
from platformctl.gate.model import Check

_RUFF, _PLATFORMCTL = script("ruff"), script("platformctl")

CHECKS = (
    Check(name="format", run=command(_RUFF, "format", "--check", "."), remedy="make format"),
    Check(name="lint", run=command(_RUFF, "check", "."), remedy="make format, then read what is left"),
    Check(
        name="import-contracts", run=command(script("lint-imports")), remedy="see [tool.importlinter] in pyproject.toml"
    ),
    Check(name="lock-file", run=command(script("uv"), "lock", "--check", "--offline"), remedy="uv lock"),
    Check(name="workflows", run=with_tool("actionlint", "-color=false"), remedy="correct .github/workflows"),
    Check(
        name="workflow-security",
        run=command(script("zizmor"), "--offline", "--no-progress", "--quiet", "--color=never", ".github"),
        remedy="correct .github/workflows, or give the reason beside the line",
    ),
    Check(name="schemas", run=definitions.published, remedy="platformctl schema KIND --write"),
    Check(name="definitions", run=definitions.files, remedy="correct the file that is named"),
    Check(
        name="secrets",
        run=command(_PLATFORMCTL, "secret", "check"),
        remedy="platformctl secret set NAMESPACE/NAME --stack STACK",
    ),
    Check(name="stacks", run=rendered.rendering, remedy="correct the file and key that is named"),
    Check(name="goldens", run=rendered.goldens, remedy="pytest --update-goldens tests/unit/test_render.py"),
    Check(name="variables", run=git_content.declared_variables, remedy="see components/sync.py for what is declared"),
    Check(name="authored-once", run=git_content.authored_once, remedy="one file for all stacks"),
    Check(name="one-owner", run=git_content.one_owner, remedy="take the object out of git, or out of the program"),
    Check(name="manifests", run=rendered.custom_resources, remedy="correct the field that is named"),
    Check(
        name="chart-values",
        run=command(_PLATFORMCTL, "chart-values", notes=True),
        remedy="correct the values, or give the reason in platformctl/render/chart_values.yaml",
    ),
    Check(name="renovate", run=renovate.configuration, remedy="correct .github/renovate.json"),
    Check(name="types", run=command(script("pyright"), "--warnings"), remedy="read the messages above"),
    Check(name="policies", run=policies.judged, remedy="correct the object, or the policy that is named"),
)
