"""Values from a hidden prompt, standard input or files. They are held in memory alone and appear in no message."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from components.errors import PlatformError

Value = str | bytes
"""Text, or bytes where it is not UTF-8."""

MAX_SECRET_BYTES = 1024 * 1024
"""What the API server takes for all values of a Secret together."""


def files_by_key(options: Sequence[str]) -> dict[str, Path]:
    """`KEY=PATH` options as a map. Raises PlatformError for one that is malformed or given twice."""
    files: dict[str, Path] = {}
    for option in options:
        key, separator, path = option.partition("=")
        if not (key and separator and path):
            raise PlatformError(f"--from-file {option}: it must be KEY=PATH, such as api-token=token.txt")
        if key in files:
            raise PlatformError(f"--from-file {option}: the key {key} is given twice; name one file for it")
        files[key] = Path(path)
    return files


def read_values(keys: Sequence[str], files: Mapping[str, Path]) -> dict[str, Value]:
    """A value for each key: from its file, else asked for without echo, else from standard input.

    On standard input one key takes everything, several keys take one line each, in their order.
    """
    asked = [key for key in keys if key not in files]
    raw = {key: _file(key, path) for key, path in files.items()}
    if asked:
        raw |= _prompted(asked) if sys.stdin.isatty() else _piped(asked, sys.stdin.buffer.read())
    values = {key: _value(key, raw[key]) for key in keys}
    if sum(map(len, raw.values())) > MAX_SECRET_BYTES:
        raise PlatformError("the values are larger than 1 MiB together, which is the most that a Secret can hold")
    return values


def _file(key: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlatformError(
            f"--from-file {key}={path}: cannot be read: {error.strerror}; name a readable file"
        ) from None


def _prompted(keys: Sequence[str]) -> dict[str, bytes]:
    from getpass import getpass

    return {key: getpass(f"{key} (not shown): ", stream=sys.stderr).encode(errors="surrogateescape") for key in keys}


def _piped(keys: Sequence[str], content: bytes) -> dict[str, bytes]:
    if len(keys) == 1:
        return {keys[0]: content}
    lines = content.splitlines()
    if len(lines) != len(keys):
        raise PlatformError(
            f"standard input has {len(lines)} lines for {len(keys)} keys; give one line for each of "
            f"{', '.join(keys)}, in this order, or a file with --from-file KEY=PATH"
        )
    return dict(zip(keys, lines, strict=True))


def _value(key: str, raw: bytes) -> Value:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return raw
    # A token with its line's end is a wrong token; a text of several lines, such as a PEM key, needs its last one.
    line = text.rstrip("\r\n")
    if not line.strip():
        raise PlatformError(f"the value of {key} is empty; give one")
    return text if "\n" in line else line
