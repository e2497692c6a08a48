"""What a user is told when something they wrote cannot work. Free of pulumi, so the helper CLI starts fast."""

from __future__ import annotations

from collections.abc import Iterable


class PlatformError(Exception):
    """A user's mistake: one sentence each with the file or key, the value, and what would be right."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences

    @classmethod
    def of(cls, sentences: Iterable[str]) -> PlatformError:
        """All mistakes at once, in the order in which they were found."""
        return cls(*sentences)
