"""Hands-off advance of image tags: Flux writes new ones to a branch of the git repository."""

from __future__ import annotations

from typing import Any

from components.contracts import IMAGE_UPDATES_BRANCH
from components.objects import manifest
from components.platform import FLUX_NAMESPACE, After, Component, Platform

NAME = "image-updates"
# Where the marked tags stand: an update block and its marker are in the same file.
PATH = "./services"
MESSAGE = """\
Update images

{{range .Changed.Changes}}{{print .OldValue}} -> {{println .NewValue}}{{end}}"""


class ImageAutomation(Component):
    """The one ImageUpdateAutomation. Suspended in all stacks but one, since two would overwrite each other's branch."""

    def __init__(self, platform: Platform, *, source: str, after: After = ()) -> None:
        """source: the GitRepository, in flux-system, whose credentials may push."""
        super().__init__(platform, "image-automation", after=after)
        # While it is suspended its controller writes no status, so a wait would never end.
        self.declare(_automation(platform, source), ready=not platform.settings.image_automation.suspend)
        self.register_outputs({})


def _automation(platform: Platform, source: str) -> dict[str, Any]:
    settings = platform.settings
    author = {"name": "Flux image automation", "email": f"flux@{settings.domain}"}
    spec = {
        "interval": settings.image_automation.interval,
        "suspend": settings.image_automation.suspend,
        "sourceRef": {"kind": "GitRepository", "name": source},
        "git": {
            "checkout": {"ref": {"branch": settings.git.branch}},
            "commit": {"author": author, "messageTemplate": MESSAGE},
            "push": {"branch": IMAGE_UPDATES_BRANCH},
        },
        "update": {"path": PATH, "strategy": "Setters"},
    }
    return manifest("image.toolkit.fluxcd.io/v1", "ImageUpdateAutomation", NAME, namespace=FLUX_NAMESPACE, spec=spec)
