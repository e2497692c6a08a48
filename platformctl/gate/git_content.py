"""What Flux applies from git: every variable is declared, nothing is forked per stack, nothing has two owners."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from components import upstream
from components.errors import PlatformError
from components.objects import Manifest
from components.secret_files import SHARED_PATH, SUFFIXES, secrets_path
from components.sops_rules import mapping, yaml_mistake
from components.sync import VARIABLES
from platformctl.gate.model import Finding
from platformctl.gate.rendered import recordings
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording

# Everything that a stack is made of, besides its Pulumi.<stack>.yaml.
AUTHORED = ("apps", "bootstrap", "dashboards", "machines", "platform", "policies", "services")
# Flux leaves such an object as it is.
_OFF = ("kustomize.toolkit.fluxcd.io/substitute", "disabled")
# ${NAME}, with what follows the name up to the brace; $${NAME} is the literal text.
_VARIABLE = re.compile(r"(?P<escape>\$)?\$\{(?P<name>[A-Za-z_]\w*)(?P<rest>[^}]*)\}")
_DEFAULT = re.compile(r"^:?[-=](?P<value>.*)$")

# Read by kustomize itself, and never sent to the cluster.
_BUILD = "kustomize.config.k8s.io/"

Identity = tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Applied:
    """An object that Flux applies for a stack; `file` is below the checkout's root."""

    file: str
    manifest: Manifest


@dataclass(frozen=True, kw_only=True)
class _Part:
    """One document of a file as it is written, and the line on which it begins."""

    file: str
    line: int
    text: str

    @property
    def substituted(self) -> bool:
        """Whether Flux fills in variables. Raises PlatformError for broken YAML."""
        documents = self.documents(self.text)
        body = mapping(documents[0] if documents else None)
        metadata = mapping(body.get("metadata"))
        marks = {**mapping(metadata.get("labels")), **mapping(metadata.get("annotations"))}
        return marks.get(_OFF[0]) != _OFF[1]

    def documents(self, text: str) -> list[Manifest]:
        """Its text with variables filled in, parsed. Raises PlatformError with the line of a mistake."""
        try:
            return [*upstream.parse(("\n" * (self.line - 1) + text).encode())]
        except yaml.YAMLError as error:
            raise PlatformError(f"{self.file}{yaml_mistake(error)}") from None


def declared_variables() -> Finding:
    """Every ${VARIABLE} below apps/ against the ConfigMap of every stack: Flux makes an unknown one empty."""
    return Finding(
        problems=tuple(
            dict.fromkeys(
                said
                for stack, recording in recordings().items()
                for said in undeclared(CHECKOUT, variables(recording), stack)
            )
        )
    )


def variables(recording: Recording) -> Mapping[str, str]:
    """What ConfigMap cluster-vars holds."""
    found = [each.inputs for each in recording.manifests if each.inputs["kind"] == "ConfigMap"]
    return next(item["data"] for item in found if item["metadata"]["name"] == VARIABLES)


def undeclared(root: Path, known: Mapping[str, str], stack: str) -> Iterator[str]:
    """A sentence for each use that neither the ConfigMap nor a default answers."""
    for part in _parts(root, SHARED_PATH):
        for number, line in enumerate(part.text.splitlines(), start=part.line):
            for match in _VARIABLE.finditer(line):
                if match["escape"] or match["name"] in known or _DEFAULT.match(match["rest"]) or not part.substituted:
                    continue
                near = difflib.get_close_matches(match["name"], known, n=1)
                right = f"did you mean {near[0]}?" if near else f"it has {', '.join(sorted(known))}"
                yield (
                    f"{part.file}:{number}: ${{{match['name']}}} is not in ConfigMap {VARIABLES} of stack {stack}, "
                    f"so it would become empty; {right} For the text itself write $${{{match['name']}}}"
                )


def authored_once() -> Finding:
    """Nothing that people write is there once for each stack, except their SOPS Secrets."""
    files = [file for directory in AUTHORED for file in _files(CHECKOUT, directory)]
    return Finding(problems=tuple(forks(files, recordings())))


def forks(files: Iterable[str], stacks: Collection[str]) -> Iterator[str]:
    """A sentence for each file whose path names a stack and that is not a SOPS Secret of that stack."""
    for file in files:
        named = [stack for stack in stacks if stack in re.split(r"[^a-z0-9]+", file.lower())]
        for stack in named:
            if not (file.startswith(f"{secrets_path(stack)}/") and file.endswith(".sops.yaml")):
                yield (
                    f"{file}: is there for stack {stack} alone; write it once for all stacks and put what differs "
                    f"into Pulumi.{stack}.yaml"
                )


def one_owner() -> Finding:
    """Nothing that the program declares is also applied from git, or applied by both Kustomizations."""
    return Finding(
        problems=tuple(said for stack, recording in recordings().items() for said in owned_twice(stack, recording))
    )


def owned_twice(stack: str, recording: Recording, root: Path = CHECKOUT) -> Iterator[str]:
    """A sentence for each object with a second owner."""
    owners = {identity(found.inputs): "the program declares it" for found in recording.manifests}
    for applied in applied_objects(root, recording):
        at = identity(applied.manifest)
        _, kind, namespace, name = at
        if at in owners:
            shown = f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
            yield f"{applied.file}: {shown} has two owners in stack {stack}: {owners[at]} too; keep one of them"
        owners[at] = f"{applied.file} holds it"


def identity(manifest: Manifest) -> Identity:
    """API group, kind, namespace and name."""
    metadata = manifest["metadata"]
    group = str(manifest["apiVersion"]).rpartition("/")[0]
    return group, manifest["kind"], str(metadata.get("namespace") or ""), metadata["name"]


def applied_objects(root: Path, recording: Recording) -> list[Applied]:
    """What both Kustomizations of the stack apply, variables filled in. Raises PlatformError for broken YAML."""
    known = variables(recording)
    own = [(part, part.text) for part in _parts(root, secrets_path(recording.stack))]
    shared = [
        (part, _filled(part.text, known) if part.substituted else part.text) for part in _parts(root, SHARED_PATH)
    ]
    return [
        Applied(file=part.file, manifest=manifest)
        for part, text in (*own, *shared)
        for manifest in part.documents(text)
        if {"apiVersion", "kind", "metadata"} <= manifest.keys() and not str(manifest["apiVersion"]).startswith(_BUILD)
    ]


def _filled(text: str, known: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        if match["escape"]:
            return match[0][1:]
        default = _DEFAULT.match(match["rest"])
        return known.get(match["name"], default["value"] if default else "")

    return _VARIABLE.sub(value, text)


def _parts(root: Path, directory: str) -> Iterator[_Part]:
    for file in _files(root, directory):
        if not file.endswith(SUFFIXES):
            continue
        line = 1
        for text in re.split(r"(?m)^(?=---)", (root / file).read_text(encoding="utf-8")):
            yield _Part(file=file, line=line, text=text)
            line += text.count("\n")


def _files(root: Path, directory: str) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in (root / directory).rglob("*") if path.is_file())
