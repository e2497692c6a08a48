"""PrometheusRule objects: the alerts and recorded series of any component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from components.objects import manifest

Severity = Literal["none", "info", "warning", "critical"]
RuleGroup = Mapping[str, Any]


def prometheus_rule(name: str, namespace: str, groups: Iterable[RuleGroup]) -> dict[str, Any]:
    """A PrometheusRule; the platform's Prometheus reads those of every namespace, whatever their labels."""
    spec = {"groups": [dict(group) for group in groups]}
    return manifest("monitoring.coreos.com/v1", "PrometheusRule", name, namespace=namespace, spec=spec)


def rule_group(name: str, *rules: Mapping[str, Any]) -> dict[str, Any]:
    """Rules that are evaluated together, in this order."""
    return {"name": name, "rules": [dict(rule) for rule in rules]}


def alert(
    name: str, expression: str, *, hold: str, severity: Severity, summary: str, description: str, page: str = ""
) -> dict[str, Any]:
    """One alert.

    expression: PromQL that yields one series for each thing that is wrong.
    hold: how long it must be wrong before the alert fires, as a Prometheus duration ("15m").
    summary, description: Prometheus templates over the series' labels.
    page: the page of docs/components/ (without suffix) that says what to do.
    """
    annotations = {"summary": summary, "description": description}
    if page:
        annotations["runbook"] = f"docs/components/{page}.md"
    return {
        "alert": name,
        "expr": expression,
        "for": hold,
        "labels": {"severity": severity},
        "annotations": annotations,
    }
