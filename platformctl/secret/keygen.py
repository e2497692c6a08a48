"""A new age key for a stack: its recipient into .sops.yaml, the key itself to where the user keeps it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from components import sops_rules
from components.errors import PlatformError
from components.secret_files import secret_path
from components.sops_rules import FILE
from platformctl.secret.stacks import stacks
from platformctl.secret.store import write_public

# pyrage is a compiled module without type information
_x25519: Any = import_module("pyrage").x25519


def keygen(root: Path, stack: str, out: Path | None) -> tuple[str, str]:
    """(recipient, identity file's text) of a new key, in place of the stack's one recipient in .sops.yaml.

    out: where the identity goes with mode 0600, a new file outside of the checkout; None leaves it to the caller.
    """
    old = _replaceable_recipient(root, stack)
    identity = _x25519.Identity.generate()
    recipient = str(identity.to_public())
    text = f"# public key: {recipient}\n{identity}\n"
    if out:
        _write_new(root, out, text)
    path = root / FILE
    try:
        write_public(path, path.read_text(encoding="utf-8").replace(old, recipient))
    except BaseException:
        if out:
            out.unlink()
        raise
    return recipient, text


def _replaceable_recipient(root: Path, stack: str) -> str:
    rules = sops_rules.load(root)
    recipients = rules.usable_rule(secret_path(stack, "any", "any")).recipients
    if len(recipients) != 1:
        raise PlatformError(
            f"{FILE}: the rule of stack {stack} names {len(recipients)} recipients, so which one to replace is yours "
            "to say; make a key with `age-keygen` and write its recipient there"
        )
    for other in stacks(root):
        rule = rules.rule_for(secret_path(other, "any", "any"))
        if other != stack and rule and recipients[0] in rule.recipients:
            raise PlatformError(
                f"{FILE}: stacks {stack} and {other} have the same recipient {recipients[0]}; "
                f"write another one into the rule of {stack} first, so that each stack has a key of its own"
            )
    return recipients[0]


def _write_new(root: Path, out: Path, text: str) -> None:
    if out.resolve().is_relative_to(root.resolve()):
        raise PlatformError(
            f"--out {out}: lies in the checkout, where it could be committed; name a file outside of it"
        )
    try:
        descriptor = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise PlatformError(f"--out {out}: is there already and may hold a key in use; name a new file") from None
    except OSError as error:
        raise PlatformError(f"--out {out}: cannot be written: {error.strerror}; name a file you can write") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(text)
