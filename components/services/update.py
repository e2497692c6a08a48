"""What a service file says about new versions of its image."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.fields import GoDuration, Model

# A calendar version is compared like a semantic one; the word says what the numbers mean.
Policy = Literal["semver", "calendar", "numerical", "alphabetical", "digest"]
Pattern = Annotated[
    str,
    Field(
        min_length=2,
        max_length=300,
        description=r"an RE2 expression from ^ to $ in single quotes, such as '^v(?P<version>\d+\.\d+\.\d+)$'",
    ),
]


class Update(Model):
    """Which tags of the image's repository count, and which of them is the newest.

    pattern: only tags that match it count; extract: what is compared, made of the pattern's groups.
    range: of semver and calendar. order: of numerical and alphabetical. tag, interval: of digest.
    """

    policy: Policy = Field(description="semver, calendar, numerical, alphabetical or digest")
    pattern: Pattern | None = None
    extract: str | None = Field(
        default=None, min_length=1, description="text with groups of the pattern, such as '${version}'"
    )
    range: str | None = Field(
        default=None, min_length=1, description='versions such as "~10.11" or ">=4.0.0-0 <5.0.0-0", in quotes'
    )
    order: Literal["asc", "desc"] | None = Field(default=None, description="asc or desc")
    tag: str | None = Field(default=None, min_length=1, description="the moving tag to follow, such as latest")
    interval: GoDuration | None = None
    tie_break: Literal["accept"] | None = Field(
        default=None, description="accept, where several tags may have the same key and any of them will do"
    )
