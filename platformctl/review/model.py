"""What a review speaks about: changes of single resources, and dangers by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from platformctl.render.recorder import Registration
from platformctl.review.fields import FieldChange, field_changes

Operation = Literal["create", "update", "replace", "delete"]
OPERATIONS: tuple[Operation, ...] = ("create", "update", "replace", "delete")
Applier = Literal["pulumi", "flux"]


@dataclass(frozen=True)
class Change:
    """One resource before and after.

    forced: the fields whose change makes the provider replace it.
    hidden: fields that the engine names and whose values nobody sees, since they are secret.
    by: who carries it out; Flux for what lies in git.
    """

    operation: Operation
    old: Registration | None
    new: Registration | None
    forced: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    by: Applier = "pulumi"

    @property
    def subject(self) -> Registration:
        """The resource as it will be, or as it was."""
        found = self.new or self.old
        if found is None:
            raise ValueError("a change has an old or a new resource")
        return found

    @cached_property
    def fields(self) -> tuple[FieldChange, ...]:
        """Every leaf that differs; none for a resource that comes or goes as a whole."""
        if self.old is None or self.new is None:
            return ()
        return tuple(field_changes(self.old.inputs, self.new.inputs))

    @property
    def keeps_name(self) -> bool:
        """Whether the cluster has an object of the same kind and name before and after."""
        return bool(self.old and self.new) and identity(self.old) == identity(self.new)


@dataclass(frozen=True)
class Danger:
    """`name` is the kind of danger, `subject` what it threatens, `text` what will happen, as half a sentence."""

    name: str
    subject: str
    text: str


def label(registration: Registration) -> str:
    """`Kind namespace/name` of an object, `type name` of anything else."""
    if registration.is_manifest:
        _, kind, namespace, name = identity(registration)
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"
    return f"{registration.type.rpartition(':')[2]} {registration.name}"


def identity(registration: Registration | None) -> tuple[str, str, str, str]:
    """API group, kind, namespace and name: what makes two manifests the same object of the cluster."""
    if registration is None or not registration.is_manifest:
        return ("", "", "", registration.urn if registration else "")
    inputs = registration.inputs
    metadata: Mapping[str, Any] = inputs.get("metadata") or {}
    return (group(inputs), inputs.get("kind", ""), metadata.get("namespace", ""), metadata.get("name", ""))


def group(inputs: Mapping[str, Any]) -> str:
    """The API group of a manifest, empty for the core group."""
    version: str = inputs.get("apiVersion") or ""
    return version.rpartition("/")[0]


def kind_of(registration: Registration) -> str:
    """`Kind` of an object, an empty string for anything else."""
    return str(registration.inputs.get("kind", "")) if registration.is_manifest else ""
