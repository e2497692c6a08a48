"""Contracts of storage and backup: one test for each way to break them, and the nearest case that is fine."""

from __future__ import annotations

from typing import Any

import pytest

from components import contracts_storage as contracts
from components.settings import Settings
from tests.unit.test_contracts import settings


def longhorn(*, nodes: int = 3, **changes: Any) -> Settings:
    return settings({"cluster": {"nodes": nodes}, "longhorn": changes})


def schedules(**changes: Any) -> Settings:
    return settings({"velero": {"schedules": changes}})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"storageNodes": 4}, "home:longhorn.storageNodes is 4, but home:cluster.nodes is 3"),
        ({"storageNodes": 2, "replicas": 3}, "home:longhorn.replicas is 3, but home:longhorn.storageNodes is 2"),
        (
            {"storageNodes": 2, "bulk": {"replicas": 3}},
            "home:longhorn.bulk.replicas is 3, but home:longhorn.storageNodes is 2",
        ),
    ],
)
def test_replicas_find_a_node_each(changes: dict[str, Any], sentence: str) -> None:
    (found,) = contracts.storage_replicas_fit_nodes(longhorn(**changes))
    assert sentence in found


def test_as_many_replicas_as_storage_nodes_are_fine() -> None:
    fitting = longhorn(storageNodes=3, replicas=3, bulk={"replicas": 3})
    assert not list(contracts.storage_replicas_fit_nodes(fitting))


@pytest.mark.parametrize(
    ("locality", "replicas", "mistakes"),
    [("strict-local", 2, 1), ("strict-local", 1, 0), ("best-effort", 2, 0), ("disabled", 2, 0)],
)
def test_strict_locality_has_one_replica(locality: str, replicas: int, mistakes: int) -> None:
    changed = longhorn(storageNodes=3, bulk={"dataLocality": locality, "replicas": replicas})
    assert len(list(contracts.strict_locality_has_one_replica(changed))) == mistakes


@pytest.mark.parametrize(
    ("name", "schedule", "sentence"),
    [
        ("daily", {"cron": "0 3 * * 1", "keepDays": 6}, "keep them for at least 7 days"),
        ("weekly", {"cron": "0 4 1 * *", "keepDays": 30}, "keep them for at least 31 days"),
        ("weekly", {"cron": "0 4 30 2 *", "keepDays": 30}, "never comes true"),
    ],
)
def test_a_backup_lives_until_the_next_one(name: str, schedule: dict[str, Any], sentence: str) -> None:
    (found,) = contracts.backups_are_kept_until_the_next(schedules(**{name: schedule}))
    assert found.startswith(f"home:velero.schedules.{name}.")
    assert sentence in found


def test_retention_of_exactly_the_interval_is_fine() -> None:
    exact = schedules(daily={"cron": "0 3 * * 1", "keepDays": 7}, weekly={"cron": "0 4 1 * *", "keepDays": 31})
    assert not list(contracts.backups_are_kept_until_the_next(exact))


@pytest.mark.parametrize(("daily", "weekly", "mistakes"), [(7, 7, 1), (8, 7, 1), (7, 8, 0)])
def test_weekly_backups_outlive_daily_ones(daily: int, weekly: int, mistakes: int) -> None:
    changed = schedules(daily={"keepDays": daily}, weekly={"keepDays": weekly})
    assert len(list(contracts.weekly_backups_outlive_daily_ones(changed))) == mistakes


@pytest.mark.parametrize(
    ("target", "prefix", "mistakes"),
    [
        ("s3://backup@us-east-1/velero", "velero", 1),
        ("s3://backup@us-east-1/velero/longhorn/", "velero", 1),
        ("s3://backup@us-east-1/home", "home/velero", 1),
        ("s3://backup@us-east-1/", "velero", 1),
        ("s3://backup@us-east-1/velero-longhorn", "velero", 0),
        ("s3://backup@us-east-1/home/longhorn", "home/velero", 0),
        ("s3://other@us-east-1/velero", "velero", 0),
    ],
)
def test_longhorn_and_velero_keep_apart(target: str, prefix: str, mistakes: int) -> None:
    changed = settings({"longhorn": {"backupTarget": target}, "velero": {"s3": {"prefix": prefix}}})
    assert len(list(contracts.backup_paths_are_apart(changed))) == mistakes


def test_the_stack_file_is_held_against_every_contract_of_storage() -> None:
    from components.contracts import STACK_RULES

    assert set(contracts.STORAGE_RULES) <= set(STACK_RULES)
