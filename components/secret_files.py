"""Secret files in git, as far as they can be read without their key: what they hold, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from components.sops_rules import ENCRYPTED_REGEX, FILE, VALUES, SopsRules, mapping, yaml_mistake

SHARED_PATH = "apps"
PLATFORM_PATH = "platform"
SUFFIXES = (".yaml", ".yml")
EMPTY = ("", "~", "null")
CIPHERTEXT = "ENC["


@dataclass(frozen=True, kw_only=True)
class SopsSecret:
    """A Secret in the repository; `keys` are the names of its values, which never get here."""

    file: str
    namespace: str
    name: str
    keys: frozenset[str]

    @property
    def at(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class SecretFiles:
    """Every Secret that could be read, and a sentence for each mistake."""

    secrets: tuple[SopsSecret, ...] = ()
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Document:
    """An object of a file. Every scalar is text; `sops` is the metadata that sops wrote at the document's top."""

    file: str
    body: Mapping[str, Any]
    sops: Mapping[str, Any] | None

    @property
    def metadata(self) -> Mapping[str, Any]:
        return mapping(self.body.get("metadata"))

    @property
    def at(self) -> str:
        return f"{self.metadata.get('namespace', '')}/{self.metadata.get('name', '')}"

    def values(self) -> dict[str, Any]:
        return {**mapping(self.body.get("data")), **mapping(self.body.get("stringData"))}


def secrets_path(stack: str) -> str:
    """Where the stack's SOPS Secrets lie in the repository, the only part of it that differs per stack."""
    return f"platform/secrets/{stack}"


def secret_path(stack: str, namespace: str, name: str) -> str:
    """The one place of a Secret of this stack, below the repository's root."""
    return f"{secrets_path(stack)}/{namespace}/{name}.sops.yaml"


def read_tree(root: Path, stack: str, rules: SopsRules | None = None) -> SecretFiles:
    """The Secrets below the stack's path and below apps/, held against `rules` where they are given."""
    secrets: list[SopsSecret] = []
    mistakes: list[str] = []
    for file in _files(root, secrets_path(stack), SHARED_PATH):
        found = read_file(file, (root / file).read_bytes(), stack, rules)
        secrets += found.secrets
        mistakes += found.mistakes
    mistakes += _stray(root, stack)
    return SecretFiles(secrets=tuple(secrets), mistakes=tuple(mistakes))


def read_file(file: str, content: bytes, stack: str, rules: SopsRules | None = None) -> SecretFiles:
    """One file, which is `file` below the root; `content` may not have been written yet."""
    try:
        documents = list(_documents(file, content))
    except yaml.YAMLError as error:
        return SecretFiles(mistakes=(f"{file}{yaml_mistake(error)}",))
    secrets: list[SopsSecret] = []
    mistakes: list[str] = []
    for document in documents:
        sentences = [*_sops_mistakes(document, rules)]
        if document.body.get("kind") == "Secret":
            sentences += [*_object_mistakes(document, stack), *_value_mistakes(document)]
            secrets += _secret(document)
        mistakes += sentences
    return SecretFiles(secrets=tuple(secrets), mistakes=tuple(dict.fromkeys(mistakes)))


def _files(root: Path, *directories: str) -> Iterator[str]:
    for directory in directories:
        for path in sorted((root / directory).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(root).as_posix()


def _stray(root: Path, stack: str) -> Iterator[str]:
    """Secrets below platform/ that belong to no stack: nothing applies them."""
    stacks = {stack, *(path.name.split(".")[1] for path in root.glob("Pulumi.*.yaml"))}
    owned = tuple(f"{secrets_path(name)}/" for name in stacks)
    for file in _files(root, PLATFORM_PATH):
        if not file.startswith(owned) and read_file(file, (root / file).read_bytes(), stack).secrets:
            yield f"{file}: holds a Secret outside of {secrets_path('STACK')}/, where Flux never looks; move it there"


def _documents(file: str, content: bytes) -> Iterator[_Document]:
    # Scalars stay text: a value such as `=` or a date, harmless in a manifest, must not stop the check.
    loaded: Iterable[object] = yaml.load_all(content, Loader=yaml.CBaseLoader)
    for document in loaded:
        body = mapping(document)
        sops = mapping(body["sops"]) if "sops" in body else None
        items = body.get("items")
        if str(body.get("kind", "")).endswith("List") and isinstance(items, list):
            for item in cast("list[object]", items):
                yield _Document(file=file, body=mapping(item), sops=sops)
        elif body:
            yield _Document(file=file, body=body, sops=sops)


def _secret(document: _Document) -> Iterator[SopsSecret]:
    namespace, name = document.metadata.get("namespace"), document.metadata.get("name")
    if namespace and name:
        yield SopsSecret(
            file=document.file, namespace=str(namespace), name=str(name), keys=frozenset(document.values())
        )


def _sops_mistakes(document: _Document, rules: SopsRules | None) -> Iterator[str]:
    """Of anything that sops encrypted, whatever its kind."""
    if document.sops is None:
        return
    clear = {"apiVersion": document.body.get("apiVersion"), "kind": document.body.get("kind")}
    clear |= {f"metadata.{key}": document.metadata.get(key) for key in ("name", "namespace")}
    if hidden := [key for key, value in clear.items() if str(value).startswith(CIPHERTEXT)]:
        yield (
            f"{document.file}: {', '.join(hidden)} must be in clear text, but sops encrypted it; "
            f"encrypt the file again with encrypted_regex {ENCRYPTED_REGEX} in {FILE}"
        )
    if not str(document.sops.get("mac", "")).startswith(CIPHERTEXT):
        yield (
            f"{document.file}: the block sops has no mac, so Flux will refuse to decrypt the file; "
            "let sops write the whole file, or take it back from git"
        )
    elif rules:
        yield from _recipient_mistakes(document, rules)


def _recipient_mistakes(document: _Document, rules: SopsRules) -> Iterator[str]:
    rule = rules.rule_for(document.file)
    sops = document.sops or {}
    groups = [sops, *map(mapping, cast("list[object]", sops.get("key_groups") or []))]
    entries = [mapping(entry) for group in groups for entry in cast("list[object]", group.get("age") or [])]
    actual = {str(entry.get("recipient", "")) for entry in entries}
    if rule and rule.recipients and actual != set(rule.recipients):
        yield (
            f"{document.file}: is encrypted for {', '.join(sorted(actual)) or 'no age key'}, but {FILE} names "
            f"{', '.join(rule.recipients)}; run `sops updatekeys {document.file}`, or set its values again"
        )


def _object_mistakes(document: _Document, stack: str) -> Iterator[str]:
    missing = [key for key in ("name", "namespace") if not document.metadata.get(key)]
    if missing:
        yield (
            f"{document.file}: the Secret has no {' and no '.join(f'metadata.{key}' for key in missing)}; "
            "write both, since the platform refers to a Secret by namespace and name"
        )
    elif document.file.startswith(f"{secrets_path(stack)}/"):
        expected = secret_path(stack, document.metadata["namespace"], document.metadata["name"])
        if document.file != expected and CIPHERTEXT not in expected:
            yield f"{document.file}: holds Secret {document.at}, whose file must be {expected}; move it there"


def _value_mistakes(document: _Document) -> Iterator[str]:
    for key in VALUES:
        block = document.body.get(key, "")
        if not isinstance(block, dict) and block not in EMPTY:
            yield f"{document.file}: {key} of Secret {document.at} must be a map from key to value"
    values = document.values()
    encrypted = document.sops is not None
    if empty := sorted(key for key, value in values.items() if value == ""):
        yield f"{document.file}: Secret {document.at} has no value for {', '.join(empty)}; set one or remove the key"
    plain = [key for key, value in values.items() if value != "" and not (encrypted and _is_ciphertext(value))]
    if plain:
        keys = ", ".join(sorted(plain))
        yield (
            f"{document.file}: Secret {document.at} has {keys} in plain text; "
            f"encrypt it with `sops encrypt --in-place {document.file}`, and change what was exposed"
        )


def _is_ciphertext(value: object) -> bool:
    return isinstance(value, str) and value.startswith(CIPHERTEXT) and value.endswith("]")
