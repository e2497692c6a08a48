"""The cheapest program that registers the same resources: no settings, no checks, inputs read from one JSON file."""

import json
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
import pulumi_random as random

registrations = json.loads(Path(os.environ["BARE_REGISTRATIONS"]).read_text())
made: dict[str, pulumi.Resource] = {}


class Object(pulumi.CustomResource):
    """Any custom resource."""


class Group(pulumi.ComponentResource):
    """Any component."""


def providers() -> dict[str, pulumi.ProviderResource]:
    """The two explicit providers."""
    context = next(r["inputs"] for r in registrations if r["type"] == "pulumi:providers:kubernetes")
    return {
        "cluster": kubernetes.Provider(
            "cluster", context=context["context"], cluster_identifier=context["clusterIdentifier"]
        ),
        "random": random.Provider("random"),
    }


available = providers()
for entry in registrations:
    opts = pulumi.ResourceOptions(
        parent=made.get(entry["parent"]),
        depends_on=[made[urn] for urn in entry["dependencies"] if urn in made],
        provider=available.get(entry["provider"]),
        delete_before_replace=entry["custom"],
    )
    if entry["type"].startswith("pulumi:providers:"):
        continue
    if not entry["custom"]:
        made[entry["urn"]] = Group(entry["type"], entry["name"], None, opts)
    elif entry["type"].startswith("random:"):
        made[entry["urn"]] = random.RandomPassword(
            entry["name"], length=entry["inputs"]["length"], special=False, opts=opts
        )
    else:
        made[entry["urn"]] = Object(entry["type"], entry["name"], entry["inputs"], opts)
