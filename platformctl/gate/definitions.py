"""The files that people write, each kind against its published JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema.validators import validator_for

from components.sops_rules import yaml_mistake
from platformctl.gate.commands import command, script
from platformctl.gate.model import Finding
from platformctl.paths import CHECKOUT
from platformctl.schema import cli as schema_cli
from platformctl.schema.published import DIRECTORY

# Which files each schema is for. An editor takes the same, by the line at the file's top or the .vscode mapping.
KINDS = {"stack": "Pulumi.*.yaml", "service": "services/*.yaml", "machine": "machines/*.yaml"}


def published() -> Finding:
    """Every schema in schemas/ is the one that the models make now, and there is one for each kind of file."""
    served = [entry.name for entry in schema_cli.app.registered_commands if entry.name]
    findings = [command(script("platformctl"), "schema", name, "--check")() for name in served]
    return Finding(problems=tuple(said for finding in findings for said in finding.problems))


def files() -> Finding:
    """Every stack, service and machine against its schema, as an editor sees it."""
    return Finding(problems=tuple(said for kind in KINDS for said in misfits(CHECKOUT, kind, DIRECTORY)))


def misfits(root: Path, kind: str, schemas: Path) -> Iterator[str]:
    """A sentence for each place where a file of the kind does not fit; a kind with files needs a schema."""
    found = sorted(root.glob(KINDS[kind]))
    published_file = schemas / f"{kind}.schema.json"
    if found and not published_file.is_file():
        yield f"{KINDS[kind]}: there is no {published_file.name}; publish it with `platformctl schema {kind} --write`"
        return
    for path in found:
        yield from _misfits(path, path.relative_to(root).as_posix(), json.loads(published_file.read_text("utf-8")))


def _misfits(path: Path, file: str, schema: Mapping[str, Any]) -> Iterator[str]:
    try:
        document = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        yield f"{file}{yaml_mistake(error)}"
        return
    validator = validator_for(schema)(schema)
    for error in sorted(validator.iter_errors(document), key=lambda each: each.json_path):
        yield f"{file}: {error.json_path.removeprefix('$.')}: {error.message}"
