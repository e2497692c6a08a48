"""All Secret files of all stacks and `.sops.yaml`, checked without any key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from components import sops_rules
from components.errors import PlatformError
from components.secret_files import SHARED_PATH, read_tree, secret_path
from components.secrets import problems
from components.sops_rules import FILE
from platformctl.secret.request import Registry
from platformctl.secret.stacks import stacks


def check(root: Path, registry: Registry) -> int:
    """The number of Secret files. Raises PlatformError with every problem of every stack."""
    known = stacks(root)
    sentences = list(_rule_problems(root, known))
    sentences += [sentence for stack in known for sentence in problems(root, stack, registry.uses)]
    if sentences:
        raise PlatformError(*dict.fromkeys(sentences))
    return len({secret.file for stack in known for secret in read_tree(root, stack).secrets})


def _rule_problems(root: Path, known: list[str]) -> Iterator[str]:
    try:
        rules = sops_rules.load(root)
    except PlatformError as error:
        yield from error.sentences
        return
    shared = rules.rule_for(f"{SHARED_PATH}/any.sops.yaml")
    for stack in known:
        try:
            rule = rules.usable_rule(secret_path(stack, "any", "any"))
        except PlatformError as error:
            yield from error.sentences
            continue
        if shared and (absent := sorted(set(rule.recipients) - set(shared.recipients))):
            yield _not_shared(stack, shared.scope, absent)


def _not_shared(stack: str, scope: str, absent: list[str]) -> str:
    return (
        f"{FILE}: {scope} lacks {', '.join(absent)}, so stack {stack} could not decrypt what "
        "all stacks apply; name the recipients of all stacks there"
    )
