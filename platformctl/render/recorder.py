"""Runs `__main__.py` under a monitor that records every registration as the engine would receive it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import runpy
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pulumi
from google.protobuf import json_format
from pulumi.runtime import config as runtime_config
from pulumi.runtime import mocks, rpc, settings, stack
from pulumi.runtime.proto import resource_pb2

from components.errors import PlatformError
from components.settings import CONFIG_SECRETS, NAMESPACE, StackConfig
from components.upstream_manifest import OPTIONAL
from platformctl.paths import CHECKOUT

SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the engine's marker of a secret value
HIDDEN = "<secret>"
PROJECT = "home"


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One resource as the engine would receive it. In `inputs`, every secret is a reference to where it comes from."""

    urn: str
    type: str
    name: str
    parent: str
    inputs: Mapping[str, Any]
    dependencies: frozenset[str]
    provider: str
    protect: bool
    retain_on_delete: bool
    delete_before_replace: bool
    timeouts: Mapping[str, str]
    custom: bool
    before_update: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()

    @property
    def is_manifest(self) -> bool:
        """Whether it is an object of the cluster."""
        return self.type.startswith("kubernetes:")


@dataclass(kw_only=True)
class Recording:
    """All registrations of one stack in the order in which they arrived, its exports, and what the program said."""

    stack: str
    registrations: list[Registration] = field(default_factory=list[Registration])
    exports: dict[str, Any] = field(default_factory=dict[str, Any])
    messages: list[str] = field(default_factory=list[str])

    @property
    def manifests(self) -> list[Registration]:
        """The Kubernetes objects in the order in which they come up; what is independent, by kind and name."""
        depths = self._depths()
        found = [registration for registration in self.registrations if registration.is_manifest]
        return sorted(found, key=lambda each: (depths[each.urn], each.inputs["kind"], each.name))

    def _depths(self) -> dict[str, int]:
        """The longest chain of dependencies below each resource; registrations arrive after what they depend on."""
        depths: dict[str, int] = {}
        for each in self.registrations:
            depths[each.urn] = 1 + max((depths.get(urn, 0) for urn in each.dependencies), default=0)
        return depths

    def component_of(self, registration: Registration) -> str:
        """The name of the component that declares the resource."""
        return registration.parent.split("::")[-1]


class _Values(mocks.Mocks):
    """Provider results: inputs come back as outputs, and generated values are references."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        return {}, None

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        outputs = dict(cast(dict[str, Any], args.inputs))
        if args.typ.startswith("random:"):
            outputs["result"] = pulumi.Output.secret(reference("generated", args.name))
        return args.name, outputs


class _Monitor(mocks.MockMonitor):
    def __init__(self, recording: Recording) -> None:
        super().__init__(_Values())
        self._recording = recording

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the gRPC method
        response = self._answer(request)
        if request.type != "pulumi:pulumi:Stack":
            self._recording.registrations.append(_registration(request, response.urn))
        return response

    def _answer(self, request: Any) -> Any:
        """Nobody reads an object's outputs, so nothing is sent back for it: half of a render's time."""
        if not request.type.startswith("kubernetes:"):
            return super().RegisterResource(request)
        urn = self.make_urn(request.parent, request.type, request.name)
        return resource_pb2.RegisterResourceResponse(urn=urn, id=request.name)

    def GetDeploymentInfo(self, request: Any) -> Any:  # noqa: N802 - the name of the gRPC method
        """The engine has hooks; nothing is ever updated here, so they are only named."""
        known = super().GetDeploymentInfo(request).supportedFeatures
        features = [*known, resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS]
        return resource_pb2.DeploymentInfo(supportedFeatures=features)

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name of the gRPC method
        if "pulumi:pulumi:Stack" in request.urn:
            self._recording.exports.update(_plain(json_format.MessageToDict(request.outputs)))
        return super().RegisterResourceOutputs(request)


class _Callbacks:
    """Stands where the SDK would serve hooks to the engine."""

    def register_resource_hook(self, hook: pulumi.ResourceHook) -> None:
        """Nobody calls it."""


def reference(source: str, name: str) -> str:
    """What a render shows of a secret: `<secret home:deployKey>`, `<secret generated receiver-token>`."""
    return f"<secret {source} {name}>" if source != NAMESPACE else f"<secret {NAMESPACE}:{name}>"


def record(config: StackConfig) -> Recording:
    """Declares the stack and returns what was registered. Raises PlatformError with the user's mistakes."""
    recording = Recording(stack=config.stack)
    handler = _Messages(recording.messages)
    logger = logging.Logger(f"record.{config.stack}")
    logger.addHandler(handler)
    with _working_directory(), _optional_upstream():
        # A context of its own: the SDK keeps its settings, config and root stack in context variables.
        contextvars.Context().run(_run, config, recording, logger)
    return recording


def _run(config: StackConfig, recording: Recording, logger: logging.Logger) -> None:
    settings.configure(
        mocks.MockSettings(
            monitor=_Monitor(recording),
            engine=mocks.MockEngine(logger),
            project=PROJECT,
            stack=config.stack,
            dry_run=False,
            organization=None,
            callbacks=_Callbacks(),
        )
    )
    present = {key: value for key, value in _references().items() if key in config.values}
    runtime_config.set_all_config({**config.values, **present}, list(config.encrypted))
    program = str(CHECKOUT / "__main__.py")
    try:
        asyncio.run(stack.run_in_stack(lambda: _execute(program)))
    except pulumi.RunError as error:
        raise PlatformError(*str(error).splitlines()) from None


def _references() -> dict[str, str]:
    return {f"{NAMESPACE}:{secret.key}": reference(NAMESPACE, secret.key) for secret in CONFIG_SECRETS}


def _execute(program: str) -> None:
    runpy.run_path(program, run_name="__main__")


def _registration(request: Any, urn: str) -> Registration:
    return Registration(
        urn=urn,
        type=request.type,
        name=request.name,
        parent=request.parent,
        inputs=_plain(json_format.MessageToDict(request.object)),
        dependencies=frozenset(request.dependencies),
        provider=request.provider.split("::")[-2] if request.provider else "",
        protect=request.protect,
        retain_on_delete=request.retainOnDelete,
        delete_before_replace=request.deleteBeforeReplace,
        timeouts={name: getattr(request.customTimeouts, name) for name in ("create", "update", "delete")},
        custom=request.custom,
        before_update=tuple(request.hooks.before_update),
        ignore_changes=tuple(request.ignoreChanges),
    )


def _plain(value: Any) -> Any:
    """Protobuf's JSON as plain data: whole numbers are ints again, secrets are references."""
    if isinstance(value, dict):
        entries = cast(dict[str, Any], value)
        if entries.get(rpc._special_sig_key) == SECRET_SIGNATURE:  # pyright: ignore[reportPrivateUsage]
            return _hidden(entries.get("value"))
        # Protobuf's maps have no order.
        return {key: _plain(entry) for key, entry in sorted(entries.items())}
    if isinstance(value, list):
        return [_plain(entry) for entry in cast(list[Any], value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _hidden(entry) for key, entry in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [_hidden(entry) for entry in cast(list[Any], value)]
    known = isinstance(value, str) and value.startswith("<secret ") and value.endswith(">")
    return value if known else HIDDEN


class _Messages(logging.Handler):
    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.INFO)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())


@contextmanager
def _working_directory() -> Generator[None]:
    before = os.getcwd()  # noqa: PTH109 - restored below
    os.chdir(CHECKOUT)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _optional_upstream() -> Generator[None]:
    """A file that cannot be had is a message in the recording, not the end of it."""
    before = os.environ.get(OPTIONAL)
    os.environ[OPTIONAL] = "1"
    try:
        yield
    finally:
        os.environ.pop(OPTIONAL) if before is None else os.environ.__setitem__(OPTIONAL, before)
