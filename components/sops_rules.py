"""`.sops.yaml`: for whom, and which part of, a Secret file is encrypted. Read as sops reads it, first match first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from components.errors import PlatformError

FILE = ".sops.yaml"
ENCRYPTED_REGEX = "^(data|stringData)$"
VALUES = ("data", "stringData")
CLEAR = ("apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "type")


@dataclass(frozen=True, kw_only=True)
class SopsRule:
    """One creation rule; `path_regex` is searched in the path below the repository's root, empty fits every path."""

    path_regex: str
    encrypted_regex: str
    recipients: tuple[str, ...]

    @property
    def scope(self) -> str:
        """How a sentence names the rule."""
        return f"the rule for {self.path_regex or 'every path'}"


@dataclass(frozen=True, kw_only=True)
class SopsRules:
    """The creation rules in the order in which sops tries them."""

    rules: tuple[SopsRule, ...]

    def rule_for(self, path: str) -> SopsRule | None:
        """The first rule that fits `path`, a POSIX path below the root."""
        return next((rule for rule in self.rules if re.search(rule.path_regex, path)), None)

    def usable_rule(self, path: str) -> SopsRule:
        """As `rule_for`, but a missing rule and one that cannot encrypt a Secret for Flux raise PlatformError."""
        rule = self.rule_for(path)
        if rule is None:
            raise PlatformError(
                f"{FILE}: no creation rule fits {path}; add one with path_regex, "
                f"encrypted_regex {ENCRYPTED_REGEX} and an age recipient"
            )
        if mistakes := list(_rule_mistakes(rule)):
            raise PlatformError(*mistakes)
        return rule


def load(root: Path) -> SopsRules:
    """The rules of the repository at `root`. Raises PlatformError where the file is missing or malformed."""
    try:
        document: object = yaml.load((root / FILE).read_bytes(), Loader=yaml.CBaseLoader)  # noqa: S506 - makes text alone
    except FileNotFoundError:
        raise PlatformError(
            f"{FILE} is missing at the root of the repository; it names the age recipient of each stack"
        ) from None
    except yaml.YAMLError as error:
        raise PlatformError(f"{FILE}{yaml_mistake(error)}") from None
    entries = mapping(document).get("creation_rules")
    if not isinstance(entries, list) or not entries:
        raise PlatformError(f"{FILE}: creation_rules is missing, it must be a list with a rule for each stack")
    return SopsRules(rules=tuple(_rule(mapping(entry)) for entry in cast("list[object]", entries)))


def yaml_mistake(error: yaml.YAMLError) -> str:
    """What follows the file's name: `:LINE:COLUMN: is not valid YAML: why`."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        mark = error.problem_mark
        return f":{mark.line + 1}:{mark.column + 1}: is not valid YAML: {error.problem}; correct this line"
    reason = getattr(error, "reason", None) or "it cannot be read"
    return f": is not valid YAML: {reason}; save it as UTF-8 text"


def _rule(entry: Mapping[str, Any]) -> SopsRule:
    rule = SopsRule(
        path_regex=str(entry.get("path_regex", "")),
        encrypted_regex=str(entry.get("encrypted_regex", "")),
        recipients=tuple(_recipients(entry)),
    )
    for key, pattern in (("path_regex", rule.path_regex), ("encrypted_regex", rule.encrypted_regex)):
        try:
            re.compile(pattern)
        except re.error as error:
            raise PlatformError(f"{FILE}: {key} {pattern} is no regular expression: {error}") from None
    if any(recipient.startswith("AGE-SECRET-KEY-") for recipient in rule.recipients):
        raise PlatformError(
            f"{FILE}: age of {rule.scope} is a private key, which is exposed now; "
            "make a new key and write its recipient here, the text that begins with age1"
        )
    return rule


def _recipients(entry: Mapping[str, Any]) -> Iterator[str]:
    # Written as one text with commas, or as a list; in the rule itself, or in its key groups.
    groups = cast("list[object]", entry.get("key_groups") or [])
    for holder in (entry, *map(mapping, groups)):
        named = holder.get("age") or ()
        texts = [named] if isinstance(named, str) else cast("list[object]", named)
        for text in texts:
            yield from re.split(r"[,\s]+", str(text).strip(", \n"))


def _rule_mistakes(rule: SopsRule) -> Iterator[str]:
    hides = [key for key in (*VALUES, *CLEAR) if re.search(rule.encrypted_regex, key)]
    if not rule.encrypted_regex or hides != list(VALUES):
        shown = rule.encrypted_regex or "missing"
        yield (
            f"{FILE}: encrypted_regex of {rule.scope} is {shown}, it must be {ENCRYPTED_REGEX}: "
            "the cluster needs the rest of a Secret in clear text"
        )
    if not [recipient for recipient in rule.recipients if recipient.startswith("age1")]:
        yield (
            f"{FILE}: {rule.scope} has no age recipient; "
            "write the public key of the stack's age key there, `age: age1…`"
        )


def mapping(value: object) -> Mapping[str, Any]:
    """`value` where it is a map, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
