"""State in S3, as prod keeps it: against a moto server, with its lock."""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from components.settings import NAMESPACE
from platformctl.deploy import stack_config
from platformctl.deploy.engine import Engine
from tests.stack.conftest import Deployed
from tests.stack.engine_run import operate

pytestmark = pytest.mark.cluster
BUCKET = "home-state"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    endpoint = f"http://127.0.0.1:{port}"
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket=BUCKET)
    yield endpoint
    # moto keeps its buckets in the process, not in the server.
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/moto-api/reset", method="POST"), timeout=10).close()  # noqa: S310
    server.stop()


@pytest.fixture
def engine(dev: Deployed, s3: str, tmp_path: Path) -> Engine:
    backend = f"s3://{BUCKET}?region=us-east-1&endpoint={s3}&s3ForcePathStyle=true"
    made = replace(dev.target.engine, directory=tmp_path / "engine", backend=backend)
    made.prepare()
    stack_config.write(made, {f"{NAMESPACE}:deployKey": "throw-away", f"{NAMESPACE}:ageKey": "throw-away"})
    return made


def _objects(endpoint: str) -> list[str]:
    listed = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").list_objects_v2(Bucket=BUCKET)
    return [entry["Key"] for entry in listed.get("Contents", [])]


def test_the_stack_lives_in_the_bucket_and_previews_from_it(engine: Engine, s3: str, tmp_path: Path) -> None:
    assert ".pulumi/stacks/home/dev.json" in _objects(s3)
    outcome = operate(engine, "preview", log=tmp_path / "events.json")
    assert outcome.returncode == 0, outcome.output
    assert set(outcome.counts) == {"create"}


def test_a_second_operation_is_refused_while_the_stack_is_locked(engine: Engine, s3: str, tmp_path: Path) -> None:
    lock = ".pulumi/locks/organization/home/dev/00000000-0000-0000-0000-000000000000.json"
    holder = '{"pid": 1, "username": "ci", "hostname": "runner", "timestamp": "2020-01-01T00:00:00Z"}'
    client = boto3.client("s3", endpoint_url=s3, region_name="us-east-1")
    client.put_object(Bucket=BUCKET, Key=lock, Body=holder.encode())
    outcome = operate(engine, "up", "--yes", "--skip-preview", log=tmp_path / "events.json")
    assert outcome.returncode != 0
    assert "locked" in outcome.output
    assert "runner" in outcome.output
    assert outcome.steps == []


def test_the_lock_is_there_while_an_operation_runs(engine: Engine, s3: str, tmp_path: Path) -> None:
    command = engine.operation("refresh", "--yes", "--skip-preview")
    seen: set[str] = set()
    with (
        (tmp_path / "output").open("w") as output,
        subprocess.Popen(command, env=engine.environment, cwd=engine.project, stdout=output, stderr=output) as running,
    ):
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            seen |= _locks(s3)
        assert running.wait(timeout=60) == 0, (tmp_path / "output").read_text()
    assert len(seen) == 1
    assert _locks(s3) == set()


def _locks(endpoint: str) -> set[str]:
    return {name for name in _objects(endpoint) if "/locks/" in name}
