"""The embedded cluster's life cycle, from the outside and on the real binaries."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.errors import PlatformError
from platformctl.local import kubeconfig, processes
from platformctl.local.api import ApiError
from platformctl.local.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120, func_only=True)]

NewCluster = Callable[..., Cluster]


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


def pids(cluster: Cluster) -> dict[str, int]:
    return {name: running.pid for name, running in processes.leaders(cluster.directory).items()}


def kill(cluster: Cluster, name: str) -> None:
    """Ends one of the cluster's processes the hard way and waits until it is gone."""
    pid = pids(cluster)[name]
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: pids(cluster).get(name) != pid)


def eventually(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.1)


def value(cluster: Cluster, name: str) -> str:
    with cluster.api() as api:
        return api.get("v1", "ConfigMap", name, "default")["data"]["key"]


def test_second_up_changes_nothing_and_is_fast(shared: Cluster) -> None:
    before, begin = pids(shared), time.monotonic()
    assert shared.up().running
    assert time.monotonic() - begin < 3
    assert pids(shared) == before


def test_changed_options_restart_only_what_they_concern(new_cluster: NewCluster) -> None:
    cluster = new_cluster("gates")
    cluster.up()
    before = pids(cluster)
    assert image_volume_survives(cluster)

    new_cluster("gates", feature_gates={"ImageVolume": False}).up()
    assert not image_volume_survives(cluster)
    assert pids(cluster)["etcd"] == before["etcd"]
    assert pids(cluster)["kube-apiserver"] != before["kube-apiserver"]


def image_volume_survives(cluster: Cluster) -> bool:
    """Whether the API server keeps an image volume's source in a server-side dry run."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": "default"},
        "spec": {
            "containers": [{"name": "main", "image": "example.invalid/main:1"}],
            "volumes": [{"name": "disk", "image": {"reference": "example.invalid/disk:1"}}],
        },
    }
    path = "/api/v1/namespaces/default/pods"
    with cluster.api() as api:
        answer = api.request("POST", path, body=pod, params={"dryRun": "All", "fieldValidation": "Ignore"})
    return any("image" in volume for volume in answer["spec"]["volumes"])


def test_data_and_ports_are_kept_across_down_and_up(new_cluster: NewCluster) -> None:
    cluster = new_cluster("kept")
    first = cluster.up()
    with cluster.api() as api:
        api.apply(config_map("kept", key="kept"))

    cluster.down()
    assert processes.find(cluster.directory) == []
    assert not cluster.status().running

    assert cluster.up().server == first.server
    assert value(cluster, "kept") == "kept"


def test_a_port_taken_meanwhile_is_replaced_in_the_kubeconfig(new_cluster: NewCluster) -> None:
    cluster = new_cluster("moved")
    first = cluster.up()
    cluster.down()
    assert first.server is not None
    port = int(first.server.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        assert cluster.up().server != first.server
        assert cluster.status().running


def test_two_clusters_side_by_side_do_not_touch_each_other(shared: Cluster, new_cluster: NewCluster) -> None:
    before = pids(shared)
    other = new_cluster("other")
    other.up()
    with shared.api() as api:
        api.apply(config_map("mine", key="mine"))
        assert api.connection.ca != kubeconfig.read(other.kubeconfig).ca
    with other.api() as api, pytest.raises(ApiError) as caught:
        api.get("v1", "ConfigMap", "mine", "default")
    assert caught.value.not_found

    other.down()
    assert pids(shared) == before
    assert shared.status().running


@pytest.fixture(scope="module")
def crashing(session_cluster: NewCluster) -> Cluster:
    cluster = session_cluster("crashing")
    cluster.up()
    with cluster.api() as api:
        api.apply(config_map("survivor", key="alive"))
    return cluster


@pytest.mark.parametrize("victims", [["etcd"], ["kube-apiserver"], ["kwok"], ["etcd", "kube-apiserver"]])
def test_up_recovers_killed_processes(crashing: Cluster, victims: list[str]) -> None:
    before = pids(crashing)
    for victim in victims:
        kill(crashing, victim)
    assert not crashing.status().running

    assert crashing.up().running
    assert value(crashing, "survivor") == "alive"
    assert all(pids(crashing)[victim] != before[victim] for victim in victims)


INTERRUPTED_UP = """
import json, sys
from pathlib import Path
from platformctl.local.cluster import Cluster
binaries = {name: Path(path) for name, path in json.loads(sys.argv[2]).items()}
Cluster(sys.argv[1], binaries=binaries).up()
"""


def test_up_recovers_what_an_interrupted_up_left_behind(
    new_cluster: NewCluster, binaries: Mapping[str, Path], cli_environment: dict[str, str]
) -> None:
    cluster = new_cluster("orphaned")
    paths = json.dumps({name: str(path) for name, path in binaries.items()})
    command = [sys.executable, "-c", INTERRUPTED_UP, cluster.name, paths]
    with subprocess.Popen(command, env=cli_environment) as starter:
        eventually(lambda: "etcd" in pids(cluster))
        starter.kill()
    orphan = pids(cluster)["etcd"]

    assert cluster.up().running
    assert pids(cluster)["etcd"] == orphan


def test_a_hanging_process_is_replaced(crashing: Cluster) -> None:
    hanging = pids(crashing)["kube-controller-manager"]
    os.kill(hanging, signal.SIGSTOP)
    assert crashing.up().running
    assert pids(crashing)["kube-controller-manager"] != hanging


def test_ups_that_race_end_with_one_cluster(new_cluster: NewCluster) -> None:
    clusters = [new_cluster("raced") for _ in range(2)]
    seen: list[bool] = []
    threads = [threading.Thread(target=lambda c=cluster: seen.append(c.up().running)) for cluster in clusters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=90)
    assert seen == [True, True]
    found = [running.name for running in processes.find(clusters[0].directory) if running.leader]
    assert sorted(found) == sorted(set(found))


def test_down_leaves_strangers_alone(new_cluster: NewCluster) -> None:
    cluster = new_cluster("guarded")
    cluster.up()
    sleep = shutil.which("sleep")
    assert sleep is not None
    marked_elsewhere = {processes.DIRECTORY_MARK: f"{cluster.directory}-2", processes.NAME_MARK: "etcd"}
    strangers = [
        # looks like ours by its name and arguments, and stale pid files name it
        subprocess.Popen([f"etcd --data-dir={cluster.layout.etcd_data}", "60"], executable=sleep),
        # belongs to a cluster whose directory only begins with the same text
        subprocess.Popen([sleep, "60"], env=marked_elsewhere),
    ]
    try:
        for name in pids(cluster):
            (cluster.directory / f"{name}.pid").write_text(f"{strangers[0].pid}\n")
        cluster.down()
        assert processes.find(cluster.directory) == []
        assert [stranger.poll() for stranger in strangers] == [None, None]
    finally:
        for stranger in strangers:
            stranger.kill()
            stranger.wait()


def test_a_process_that_cannot_start_is_named_with_its_log_and_nothing_stays(new_cluster: NewCluster) -> None:
    cluster = new_cluster("broken", feature_gates={"NoSuchGate": True})
    with pytest.raises(PlatformError, match="NoSuchGate") as caught:
        cluster.up()
    assert "kube-apiserver ended before it was ready" in str(caught.value)
    assert str(cluster.layout.log("kube-apiserver")) in str(caught.value)
    assert processes.find(cluster.directory) == []


def test_reset_removes_processes_and_data(new_cluster: NewCluster) -> None:
    cluster = new_cluster("removed")
    with cluster:
        assert cluster.kubeconfig.exists()
    assert processes.find(cluster.directory) == []
    assert not cluster.layout.state.exists()
    cluster.reset()


def test_the_audit_log_tells_who_did_what(new_cluster: NewCluster) -> None:
    cluster = new_cluster("audited", audit=True)
    cluster.up()
    with cluster.api() as api:
        api.apply(config_map("audited", key="yes"))
    log = cluster.layout.log("audit")

    def recorded() -> bool:
        events = [json.loads(line) for line in log.read_text().splitlines()]
        return any(e["verb"] == "patch" and e["objectRef"].get("name") == "audited" for e in events)

    eventually(recorded)


def test_the_command_line_from_up_to_reset(state_root: Path, cli_environment: dict[str, str]) -> None:
    def local(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "platformctl", "local", *arguments, "--name", "typed"]
        return subprocess.run(command, env=cli_environment, capture_output=True, text=True, timeout=90, check=False)

    up = local("up", "--context", "typed-context", "--node", "only")
    assert up.returncode == 0, up.stderr
    try:
        found = json.loads(local("status", "--json").stdout)
        assert found["running"]
        assert found["simulated"]["nodes"] == ["only"]
        path = Path(local("kubeconfig").stdout.strip())
        assert path == state_root / "typed" / "kubeconfig"
        assert "typed-context" in local("kubeconfig", "--print").stdout
        assert local("down").returncode == 0
        assert local("status").returncode == 3
    finally:
        assert local("reset", "--yes").returncode == 0
    assert not path.parent.exists()
