"""A language host for `runtime: python`, for a `pulumi` that was built from its Go module and brings none.

Started by `pulumi` through the wrapper `pulumi-language-python`, with the engine's address as its last argument;
prints its port. It runs programs with the interpreter that it runs on, so with the checkout's packages. It imports
nothing of this package, because it is started as a file, and what it imported would be there for the program too.
"""

# ruff: noqa: N802, N815 (these names are the protocol's)
from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib.metadata
import logging
import os
import platform
import re
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import grpc
import pulumi
from google.protobuf import empty_pb2
from pulumi.runtime import proto, reset_options, run_in_stack, set_all_config

# The generated protocol modules carry no types that resolve.
_proto: Any = proto
_grpc: Any = grpc

# What Pulumi's own hosts accept; a stack's config and inputs can exceed gRPC's default of 4 MiB.
_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_PARENT_POLL_SECONDS = 1.0


class ProgramInfo(Protocol):
    """Where a program lies: an absolute directory, and "." or a file in it."""

    program_directory: str
    root_directory: str
    entry_point: str


class RunRequest(Protocol):
    """What the engine says about a program that is to run."""

    info: ProgramInfo
    pwd: str
    args: list[str]
    project: str
    stack: str
    organization: str
    config: dict[str, str]
    configSecretKeys: list[str]
    dryRun: bool
    parallel: int
    monitor_address: str


class LanguageHost(_proto.LanguageRuntimeServicer):
    """Answers what the engine asks of a language; programs run one at a time."""

    def __init__(self, engine_address: str) -> None:
        self._engine_address = engine_address
        self._running = threading.Lock()
        self._loaded_before = frozenset(sys.modules)

    def Handshake(self, request: Any, context: object) -> Any:
        """Learns where the engine listens."""
        self._engine_address = request.engine_address or self._engine_address
        return _proto.language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: object) -> Any:
        """This host's version is its SDK's."""
        return _proto.plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    def GetRequiredPlugins(self, request: Any, context: object) -> Any:
        """None ahead of the run: the engine looks for each plugin when the program asks for it."""
        return _proto.language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: object) -> Any:
        """None ahead of the run, as above."""
        return _proto.language_pb2.GetRequiredPackagesResponse()

    def About(self, request: Any, context: object) -> Any:
        """For `pulumi about`."""
        return _proto.language_pb2.AboutResponse(executable=sys.executable, version=platform.python_version())

    def GetProgramDependencies(self, request: Any, context: object) -> Any:
        """The environment's distributions; without the transitive ones only those that no other one requires."""
        skipped = set[str]() if request.transitiveDependencies else _required_distributions()
        found = {_normal(item.name): item.version for item in importlib.metadata.distributions()}
        info = _proto.language_pb2.DependencyInfo
        dependencies = [info(name=name, version=found[name]) for name in sorted(found) if name not in skipped]
        return _proto.language_pb2.GetProgramDependenciesResponse(dependencies=dependencies)

    def InstallDependencies(self, request: Any, context: object) -> Iterator[Any]:
        """Nothing to install: the interpreter is the checkout's environment."""
        message = f"dependencies are those of {sys.prefix}; `uv sync` in the checkout installs them\n"
        yield _proto.language_pb2.InstallDependenciesResponse(stdout=message.encode())

    def RuntimeOptionsPrompts(self, request: Any, context: object) -> Any:
        """`pulumi new` has nothing to ask."""
        return _proto.language_pb2.RuntimeOptionsResponse()

    def Template(self, request: Any, context: object) -> Any:
        """A new project is left as it is."""
        return _proto.language_pb2.TemplateResponse()

    def Cancel(self, request: Any, context: object) -> Any:
        """A running program ends by itself when its resource monitor goes away."""
        return empty_pb2.Empty()

    def Run(self, request: RunRequest, context: object) -> Any:
        """Runs a program as if its interpreter had just started; what it printed is flushed before the answer."""
        with self._running:
            try:
                _forget(Path(_program_directory(request)), self._loaded_before)
                error = contextvars.copy_context().run(_run, request, self._engine_address)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        # `bail` says that the message has been shown; with `error` the engine would add a second one.
        return _proto.language_pb2.RunResponse(bail=error)


def _program_directory(request: RunRequest) -> str:
    return request.info.program_directory or request.pwd


def _forget(directory: Path, loaded_before: frozenset[str]) -> None:
    """Unloads the modules that an earlier run imported from the program's directory, not those of an environment."""
    for name, module in list(sys.modules.items()):
        if name not in loaded_before and _is_own(getattr(module, "__file__", None), directory):
            del sys.modules[name]


def _is_own(file: str | None, directory: Path) -> bool:
    """Whether a source file is the program's own; an environment usually lies inside the program's directory."""
    path = Path(file or "/")
    return path.is_relative_to(directory) and not path.is_relative_to(sys.prefix)


def _run(request: RunRequest, engine_address: str) -> bool:
    """Runs the program on a loop of its own; whether it failed, which the user has then been told."""
    _configure(request, engine_address)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=max(request.parallel, 1) * 4))
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(run_in_stack(lambda: _execute(request)))
    except BaseException as error:
        message = _message(error, Path(_program_directory(request)))
        if message is not None:
            pulumi.log.error(message)
        return message is not None
    finally:
        _close(loop)
    return False


def _configure(request: RunRequest, engine_address: str) -> None:
    directory = _program_directory(request)
    os.chdir(directory)
    if directory not in sys.path:
        sys.path.insert(0, directory)
    sys.argv = [directory, *request.args]
    reset_options(
        project=request.project,
        stack=request.stack,
        root_directory=request.info.root_directory,
        parallel=request.parallel,
        engine_address=engine_address,
        monitor_address=request.monitor_address,
        preview=request.dryRun,
        organization=request.organization or "organization",
    )
    set_all_config(dict(request.config), list(request.configSecretKeys))


def _execute(request: RunRequest) -> None:
    program = Path(_program_directory(request), request.info.entry_point or ".")
    runpy.run_path(str(program), run_name="__main__")


def _message(error: BaseException, directory: Path) -> str | None:
    """What a user is told: RunError is a sentence, anything unforeseen a traceback; None is a normal end."""
    if isinstance(error, pulumi.RunError):
        return str(error)
    if isinstance(error, SystemExit):
        return None if error.code in (None, 0) else f"the program ended with {error.code!r}"
    if isinstance(error, grpc.RpcError) and getattr(error, "code", lambda: None)() == _grpc.StatusCode.UNAVAILABLE:
        return None  # The engine is shutting down and knows why.
    trace = error.__traceback__
    while trace and not _is_own(trace.tb_frame.f_code.co_filename, directory):
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))
    return f"Program failed with an unhandled exception:\n{text}"


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Ends what a failed program left pending; unfinished tasks would be reported when they are collected."""
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    with contextlib.suppress(Exception):
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
    asyncio.set_event_loop(None)
    loop.close()


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _required_distributions() -> set[str]:
    requirements = [text for item in importlib.metadata.distributions() for text in item.requires or ()]
    names = [re.match(r"[\w.-]+", text) for text in requirements if "extra ==" not in text]
    return {_normal(name.group()) for name in names if name}


def serve(arguments: list[str]) -> None:
    """Serves until SIGINT, SIGTERM or the engine's end; then leaves at once, quietly, whatever a program does."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    parent = os.getppid()
    sizes = [(f"grpc.max_{way}_message_length", _MAX_MESSAGE_BYTES) for way in ("receive", "send")]
    server = _grpc.server(ThreadPoolExecutor(max_workers=8), options=sizes)
    host = LanguageHost(arguments[-1] if arguments else "")
    _proto.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 (the engine reads the port from standard output)
    while not stop.wait(_PARENT_POLL_SECONDS) and os.getppid() == parent:
        pass
    # A program still running in a worker thread would hold up a normal exit.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1:])
