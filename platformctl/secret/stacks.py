"""The stacks of a checkout, and what their files say about secret config."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from components.errors import PlatformError
from components.settings import NAMESPACE
from platformctl.stackfile import stack_config


def stacks(root: Path) -> list[str]:
    """The names in Pulumi.<stack>.yaml, sorted."""
    return sorted(path.name.split(".")[1] for path in root.glob("Pulumi.*.yaml"))


def require_stack(root: Path, stack: str) -> None:
    """Raises PlatformError where there is no such stack."""
    known = stacks(root)
    if stack not in known:
        raise PlatformError(f"--stack {stack}: there is no Pulumi.{stack}.yaml; {suggestion(stack, known)}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or `known: A, B.` where none is near."""
    words = sorted(set(known))
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(words)}."


def has_config_secret(root: Path, stack: str, key: str) -> bool:
    """Whether the stack file holds `home:<key>` encrypted."""
    return f"{NAMESPACE}:{key}" in stack_config(stack, root / f"Pulumi.{stack}.yaml").encrypted
