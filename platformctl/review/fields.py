"""The fields of two manifests against each other, without what only looks like a difference."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

# Kubernetes reads these as sets.
UNORDERED = frozenset(
    {
        "accessModes",
        "add",
        "apiGroups",
        "apiVersions",
        "drop",
        "finalizers",
        "hostnames",
        "namespaces",
        "operations",
        "policyTypes",
        "resourceNames",
        "resources",
        "verbs",
    }
)
# Lists that run from top to bottom, although their items have names.
ORDERED = frozenset({"initContainers", "rules", "steps", "listeners", "variables"})
_FOLLOWING = re.compile(r"checksum|sha256sum|fingerprint|content-hash|(^|[/.-])hash$|client-secrets?$", re.IGNORECASE)
_DIGEST = re.compile(r"(sha256:)?[0-9a-f]{8,128}|<.*>")
_HASHED_NAME = re.compile(r"(?P<stem>.+-)(?=[0-9a-f]*\d)[0-9a-f]{8,64}")

Leaves = Mapping[str, Any]


@dataclass(frozen=True)
class FieldChange:
    """One leaf: its dotted path, and its value before and after, None where it is not there."""

    path: str
    old: Any
    new: Any

    @property
    def follows(self) -> bool:
        """Whether it only repeats a change made elsewhere: a checksum, or a name that ends in one."""
        if not isinstance(self.old, str) or not isinstance(self.new, str):
            return False
        if _FOLLOWING.search(last_key(self.path)):
            return bool(_DIGEST.fullmatch(self.old) and _DIGEST.fullmatch(self.new))
        old, new = _HASHED_NAME.fullmatch(self.old), _HASHED_NAME.fullmatch(self.new)
        return bool(old and new and old["stem"] == new["stem"])


def canonical(value: Any, key: str = "") -> Any:
    """The value with maps by key, and with lists by name or value where their order means nothing."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return {name: canonical(entries[name], name) for name in sorted(entries)}
    if isinstance(value, list):
        items = [canonical(item) for item in cast("list[Any]", value)]
        if key in UNORDERED:
            return sorted(items, key=_as_text)
        return sorted(items, key=lambda item: str(item["name"])) if key not in ORDERED and named(items) else items
    return value


def leaves(value: Any, path: str = "", key: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every scalar and every empty map or list. A named item has its name in brackets."""
    if isinstance(value, Mapping) and value:
        for name, inner in cast("Mapping[str, Any]", value).items():
            yield from leaves(inner, _joined(path, name), name)
    elif isinstance(value, list) and value:
        items = cast("list[Any]", value)
        by_name = key not in ORDERED and named(items)
        for index, inner in enumerate(items):
            yield from leaves(inner, f"{path}[{inner['name'] if by_name else index}]")
    else:
        yield path, value


def field_changes(old: Any, new: Any) -> Iterator[FieldChange]:
    """Every leaf that differs, in the order of the paths."""
    before, after = dict(leaves(canonical(old))), dict(leaves(canonical(new)))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path) or (path in before) != (path in after):
            yield FieldChange(path, before.get(path), after.get(path))


def named(items: list[Any]) -> bool:
    """Whether every item is a map with a name of its own."""
    names = [cast("Mapping[str, Any]", item).get("name") for item in items if isinstance(item, Mapping)]
    return len(names) == len(items) > 0 and all(isinstance(name, str) for name in names) and len({*names}) == len(names)


def last_key(path: str) -> str:
    """The key at the end of a path, `"a/b.c"` included, without an index."""
    quoted = re.search(r'\."([^"]+)"(\[[^\]]*\])*$', path)
    return (
        quoted[1]
        if quoted
        else re.sub(
            r"(\[[^\]]*\])+$", "", path.rpartition(".")[2] if "[" not in path else path.rsplit(".", maxsplit=1)[-1]
        )
    )


def below(path: str, prefix: str) -> bool:
    """Whether a path is the prefix or lies below it."""
    return path == prefix or path.startswith((f"{prefix}.", f"{prefix}["))


def _joined(path: str, name: str) -> str:
    shown = f'"{name}"' if re.search(r"[.\[\]]", name) else name
    return f"{path}.{shown}" if path else shown


def _as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
