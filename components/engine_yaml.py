"""YAML as the Pulumi engine reads it (Go's yaml.v3, then JSON), with the line of every key; PyYAML alone differs.

Measured with pulumi 3.274.1: `yes` and `on` are text, `010` is octal, `2.0` arrives as 2, a date as a Go time.
Times of day are left as they are written.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from components.errors import PlatformError
from components.mistakes import dotted

_TAG = "tag:yaml.org,2002:"
# Between these, Go's JSON writes a float without an exponent.
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-6, 1e21
_RULES = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
    ("timestamp", r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}", "0123456789"),
    ("int", r"[-+]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)", "+-0123456789"),
    ("float", r"[-+]?(\.[0-9_]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?", "+-.0123456789"),
)


class _Loader(yaml.CSafeLoader):
    """libyaml's parser with yaml.v3's rules for what a plain scalar is."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _name, _pattern, _first in _RULES:
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})$"), list(_first))


class Document:
    """One parsed file: `value` in JSON's types and `lines` by dotted key, counted from 1."""

    def __init__(self, name: str, root: yaml.Node | None) -> None:
        self.name = name
        self.lines: dict[tuple[int | str, ...], int] = {}
        self._open: set[int] = set()
        self.value: Any = None if root is None else self._value(root, ())

    def _value(self, node: yaml.Node, path: tuple[int | str, ...]) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if id(node) in self._open:
            place = _at(self.name, node.start_mark)
            raise PlatformError(f"{place}: {_key_text(path)} is an alias of what it stands in; write the value out")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self._entry(child, (*path, index), child) for index, child in enumerate(node.value)]
            return self._mapping(node, path)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.Node, path: tuple[int | str, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        inherited: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for key, child in node.value:
            if key.tag == f"{_TAG}merge":
                for source in _sources(child):
                    inherited = {**self._value(source, path), **inherited}
                continue
            name = self._key(key, path, seen)
            result[name] = self._entry(key, (*path, name), child)
        return {**inherited, **result}

    def _key(self, key: yaml.Node, path: tuple[int | str, ...], seen: dict[str, int]) -> str:
        place = _at(self.name, key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            raise PlatformError(f"{place}: a key must be plain text, not a map or a list")
        value = _scalar(key)
        name = value if isinstance(value, str) else text(value)
        if name in seen:
            key_text = _key_text((*path, name))
            raise PlatformError(f"{place}: {key_text} is set twice, first in line {seen[name]}; keep one of them")
        seen[name] = _line(key)
        return name

    def _entry(self, marked: yaml.Node, path: tuple[int | str, ...], node: yaml.Node) -> Any:
        self.lines[path] = _line(marked)
        return self._value(node, path)


def load(path: Path, name: str) -> Document:
    """The file's document; `name` stands in messages. Raises PlatformError with file:line:column if it is no YAML."""
    try:
        return Document(name, yaml.compose(path.read_bytes(), Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _at(name, mark) if mark else name
        problem = ": ".join(filter(None, (error.context, (error.problem or "").removeprefix("but "))))
        raise PlatformError(f"{place}: this is not YAML; {problem}") from None
    except yaml.YAMLError as error:
        raise PlatformError(f"{name}: this is not YAML; {' '.join(str(error).split())}") from None
    except RecursionError:
        raise PlatformError(f"{name}: maps and lists are nested too deeply") from None


def text(scalar: Any) -> str:
    """A scalar as the engine's text: `true`, `3`, `1.5`, and nothing for null."""
    if scalar is None:
        return ""
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, float) and abs(scalar) >= _SMALLEST_PLAIN:
        return re.sub(r"e\+0*", "e+", repr(scalar)) if abs(scalar) >= _LARGEST_PLAIN else f"{Decimal(repr(scalar)):f}"
    return re.sub(r"e-0*", "e-", repr(scalar)) if isinstance(scalar, float) else str(scalar)


def _scalar(node: yaml.ScalarNode) -> Any:
    reader = _READERS.get(node.tag.removeprefix(_TAG))
    try:
        return reader(node.value) if reader else node.value
    except (ValueError, OverflowError):
        return node.value


def _integer(written: str) -> int | float:
    plain = written.replace("_", "")
    octal = re.fullmatch(r"([-+]?)0([0-7]+)", plain)
    number = int(f"{octal[1]}0o{octal[2]}" if octal else plain, 0)
    return number if -(2**63) <= number < 2**63 else _float(str(number))


def _float(written: str) -> int | float:
    number = float(written.replace("_", ""))
    if number in (float("inf"), float("-inf")):
        raise OverflowError
    return int(number) if number.is_integer() and abs(number) < _LARGEST_PLAIN else number


def _date(written: str) -> str:
    year, month, day = map(int, written.split("-"))
    return f"{date(year, month, day).isoformat()} 00:00:00 +0000 UTC"


def _binary(written: str) -> str:
    try:
        return base64.b64decode(written).decode()
    except binascii.Error as error:
        raise ValueError from error


def _null(_written: str) -> None:
    return None


def _boolean(written: str) -> bool:
    return written.lower() == "true"


_READERS: dict[str, Any] = {
    "bool": _boolean,
    "null": _null,
    "int": _integer,
    "float": _float,
    "timestamp": _date,
    "binary": _binary,
}


def _key_text(path: tuple[int | str, ...]) -> str:
    """The dotted key as a person knows it, without the `config` around a stack's keys."""
    return dotted(path[1:] if path[0] == "config" and len(path) > 1 else path)


def _sources(node: yaml.Node) -> Iterator[yaml.Node]:
    candidates = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return (candidate for candidate in candidates if isinstance(candidate, yaml.MappingNode))


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1


def _at(name: str, mark: Any) -> str:
    return f"{name}:{mark.line + 1}:{mark.column + 1}"
