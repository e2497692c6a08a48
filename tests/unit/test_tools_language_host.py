"""The language-host stand-in, spoken to over gRPC as the engine does."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime import proto

from tests.unit.tools_machine import CHECKOUT, wait_until

_proto: Any = proto
_grpc: Any = grpc
HOST = CHECKOUT / "platformctl/tools/language_host.py"


class Engine(_proto.EngineServicer, _proto.ResourceMonitorServicer):
    """As much of an engine as a program without resources needs; keeps what it is told."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.outputs: dict[str, Any] = {}

    def Log(self, request: Any, context: object) -> Any:  # noqa: N802
        if request.severity == _proto.engine_pb2.ERROR:
            self.errors.append(request.message)
        return empty_pb2.Empty()

    def SupportsFeature(self, request: Any, context: object) -> Any:  # noqa: N802
        return _proto.resource_pb2.SupportsFeatureResponse(hasSupport=False)

    def RegisterResource(self, request: Any, context: object) -> Any:  # noqa: N802
        return _proto.resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:dev::t::{request.type}::{request.name}")

    def RegisterResourceOutputs(self, request: Any, context: object) -> Any:  # noqa: N802
        self.outputs = dict(request.outputs.items())
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request: Any, context: object) -> Any:  # noqa: N802
        return empty_pb2.Empty()


@pytest.fixture
def engine() -> Iterator[tuple[Engine, str]]:
    server = _grpc.server(ThreadPoolExecutor(max_workers=4))
    servicer = Engine()
    _proto.add_EngineServicer_to_server(servicer, server)
    _proto.add_ResourceMonitorServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    server.stop(None).wait(5)


@pytest.fixture
def host(engine: tuple[Engine, str]) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """The process, started with flags that an engine in debugging mode passes, and a client of it."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-P", str(HOST), "-v=9", "--logtostderr", engine[1]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    channel = _grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}")
    yield process, _proto.LanguageRuntimeStub(channel)
    channel.close()
    process.kill()
    process.communicate()


@pytest.fixture
def program(tmp_path: Path, engine: tuple[Engine, str], host: tuple[subprocess.Popen[str], Any]) -> Callable[..., Any]:
    """Runs a program's text as the engine would and returns the answer."""

    def run(text: str, **config: str) -> Any:
        (tmp_path / "__main__.py").write_text(text, encoding="utf-8")
        request = _proto.language_pb2.RunRequest(
            project="t",
            stack="dev",
            organization="home",
            dryRun=True,
            parallel=4,
            monitor_address=engine[1],
            config={f"t:{key}": value for key, value in config.items()},
            configSecretKeys=["t:token"],
            info=_proto.language_pb2.ProgramInfo(
                root_directory=str(tmp_path), program_directory=str(tmp_path), entry_point="."
            ),
        )
        return host[1].Run(request, timeout=30)

    return run


def test_it_shakes_hands_and_tells_its_version(host: tuple[subprocess.Popen[str], Any]) -> None:
    _, client = host
    client.Handshake(_proto.language_pb2.LanguageHandshakeRequest(engine_address="127.0.0.1:1"), timeout=10)
    assert client.GetPluginInfo(empty_pb2.Empty(), timeout=10).version[:2] == "3."
    packages = client.GetRequiredPackages(_proto.language_pb2.GetRequiredPackagesRequest(), timeout=10)
    assert list(packages.packages) == []
    assert client.About(_proto.language_pb2.AboutRequest(), timeout=10).executable == sys.executable


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_quietly(host: tuple[subprocess.Popen[str], Any], number: signal.Signals) -> None:
    process, client = host
    client.GetPluginInfo(empty_pb2.Empty(), timeout=10)
    process.send_signal(number)
    output, errors = process.communicate(timeout=10)
    assert (process.returncode, output, errors) == (0, "", "")


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    (tmp_path / "port").touch()
    script = f'"{sys.executable}" -u -P "{HOST}" 127.0.0.1:1 > "{tmp_path}/port" & echo $!; wait'
    shell = subprocess.Popen([shutil.which("sh") or "sh", "-c", script], stdout=subprocess.PIPE, text=True)
    assert shell.stdout
    child = int(shell.stdout.readline())
    wait_until(lambda: (tmp_path / "port").read_text(encoding="utf-8") != "")
    shell.kill()
    shell.communicate()
    wait_until(lambda: not _alive(child))


def _alive(process_id: int) -> bool:
    status = Path(f"/proc/{process_id}/stat")
    try:
        return status.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_program_runs_in_its_directory_with_its_stack(
    program: Callable[..., Any], engine: tuple[Engine, str], tmp_path: Path
) -> None:
    text = """
import os, pulumi
config = pulumi.Config()
pulumi.export("where", os.getcwd())
pulumi.export("who", f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}")
pulumi.export("domain", config.require("domain"))
pulumi.export("preview", pulumi.runtime.is_dry_run())
"""
    answer = program(text, domain="home.example")
    assert (answer.error, answer.bail, engine[0].errors) == ("", False, [])
    assert engine[0].outputs == {
        "where": str(tmp_path),
        "who": "home/t/dev",
        "domain": "home.example",
        "preview": True,
    }


def test_each_run_starts_afresh(program: Callable[..., Any], engine: tuple[Engine, str], tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("calls = []\n", encoding="utf-8")
    text = """
import helper, pulumi
helper.calls.append(1)
pulumi.export("calls", len(helper.calls))
pulumi.export("domain", pulumi.Config().get("domain") or "none")
"""
    program(text, domain="home.example")
    assert engine[0].outputs == {"calls": 1, "domain": "home.example"}
    program(text)
    assert engine[0].outputs == {"calls": 1, "domain": "none"}


def test_a_run_error_is_one_sentence(program: Callable[..., Any], engine: tuple[Engine, str]) -> None:
    answer = program("import pulumi\nraise pulumi.RunError('Pulumi.dev.yaml: domain is missing')\n")
    assert (answer.bail, answer.error) == (True, "")
    assert engine[0].errors == ["Pulumi.dev.yaml: domain is missing"]


def test_another_exception_shows_the_program_s_own_traceback(
    program: Callable[..., Any], engine: tuple[Engine, str], tmp_path: Path
) -> None:
    assert program("def broken():\n    return {}['x']\n\nbroken()\n").bail
    (message,) = engine[0].errors
    assert message.startswith("Program failed with an unhandled exception:\nTraceback")
    assert f'File "{tmp_path}/__main__.py", line 2, in broken' in message
    assert message.rstrip().endswith("KeyError: 'x'")
    assert "language_host" not in message


@pytest.mark.parametrize(("code", "bail"), [("0", False), ("", False), ("3", True)])
def test_an_exit_counts_by_its_code(program: Callable[..., Any], code: str, bail: bool) -> None:
    assert program(f"raise SystemExit({code})\n").bail is bail
