"""The one ImageUpdateAutomation: where it reads, where it writes, and that one stack alone runs it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.contracts import IMAGE_UPDATES_BRANCH
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording
from platformctl.stackfile import load_settings
from tests.altered import recorded
from tests.graph import resource

STACKS = sorted(file.name.split(".")[1] for file in CHECKOUT.glob("Pulumi.*.yaml"))


@pytest.fixture(params=["dev", "prod"])
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def spec(recording: Recording) -> dict[str, Any]:
    return resource(recording, "ImageUpdateAutomation", "image-updates").inputs["spec"]


def test_one_stack_of_all_runs_it() -> None:
    running = [stack for stack in STACKS if not load_settings(stack).image_automation.suspend]
    assert {"dev", "prod"} <= set(STACKS)
    assert len(running) == 1, f"image automation runs in {running}; two would overwrite each other's branch"


def test_there_is_one_in_a_stack(recording: Recording) -> None:
    found = [each for each in recording.manifests if each.inputs["kind"] == "ImageUpdateAutomation"]
    assert [(each.name, each.inputs["apiVersion"]) for each in found] == [
        ("flux-system/image-updates", "image.toolkit.fluxcd.io/v1")
    ]


def test_it_reads_the_branch_that_flux_reconciles_and_pushes_to_another(recording: Recording) -> None:
    git = spec(recording)["git"]
    source = resource(recording, "GitRepository", spec(recording)["sourceRef"]["name"]).inputs["spec"]
    assert git["checkout"]["ref"] == source["ref"] == {"branch": "main"}
    assert git["push"] == {"branch": IMAGE_UPDATES_BRANCH}
    assert "refspec" not in git["push"]


def test_it_changes_marked_tags_of_services(recording: Recording) -> None:
    assert spec(recording)["update"] == {"path": "./services", "strategy": "Setters"}
    # A directory that is not in git is an error of the automation.
    assert (CHECKOUT / "services").is_dir()


def test_the_message_uses_fields_that_there_are(recording: Recording) -> None:
    template = spec(recording)["git"]["commit"]["messageTemplate"]
    fields = set(re.findall(r"\.[A-Z]\w*", template))
    assert {".Changed", ".Changes"} <= fields <= {".Changed", ".Changes", ".OldValue", ".NewValue"}
    assert template.count("{{range") == template.count("{{end}}")


def test_commits_have_an_author(recording: Recording) -> None:
    author = spec(recording)["git"]["commit"]["author"]
    assert re.fullmatch(r"\S+@\S+\.\S+", author["email"])


def test_nobody_waits_for_a_suspended_one(recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        found = resource(recording, "ImageUpdateAutomation", "image-updates")
        awaited = "pulumi.com/waitFor" in found.inputs["metadata"].get("annotations", {})
        assert awaited is not found.inputs["spec"]["suspend"]
        assert [each.name for each in recording.manifests if found.urn in each.dependencies] == []


def test_the_wait_follows_the_setting() -> None:
    changed = resource(
        recorded("dev", {"imageAutomation": {"suspend": False}}), "ImageUpdateAutomation", "image-updates"
    )
    assert changed.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
