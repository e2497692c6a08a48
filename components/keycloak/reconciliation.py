"""The realm as code: a Job that holds Keycloak to the realm's document, and the same every night against drift."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pulumi

from components.keycloak.document import realm_document, realm_files
from components.keycloak.server import ADMIN_SECRET, CONTAINER_SECURITY, IMAGE, POD_SECURITY, URL, from_secret
from components.objects import manifest
from components.platform import After, Component, Platform
from components.realm import (
    CLIENT_ID_KEY,
    CLIENT_SECRET_KEY,
    NAMESPACE,
    REALM,
    Group,
    OidcClient,
)

SCRIPT = "realm-reconcile.sh"
DISPLAY_NAME = "Home"
NAME = "realm"
FILES_PATH = "/realm"
SECRETS_PATH = "/run/realm-secrets"
NIGHTLY = "23 3 * * *"
DEADLINE_SECONDS = 900
_LABELS = {"app.kubernetes.io/name": "realm-reconciliation"}


class RealmReconciliation(Component):
    """Ready when the Job is done: after it, every client and group of the document is there."""

    def __init__(
        self,
        platform: Platform,
        *,
        clients: Iterable[OidcClient],
        fingerprints: Mapping[str, pulumi.Output[str]],
        after: After = (),
    ) -> None:
        """fingerprints: a hash of each client's secret by client id; a new secret runs the Job again."""
        super().__init__(platform, NAME, after=after)
        wanted = list(clients)
        groups = [Group(name=name) for name in platform.settings.keycloak.groups]
        files = {
            **realm_files(realm_document(display_name=DISPLAY_NAME, groups=groups, clients=wanted)),
            SCRIPT: (Path(__file__).parent / SCRIPT).read_text(),
        }
        name = f"{NAME}-{content_hash(files, IMAGE)}"
        content = self.declare(
            manifest("v1", "ConfigMap", name, namespace=NAMESPACE, labels=_LABELS, data=files),
            name=f"{NAMESPACE}/{NAME}",
        )
        template = _pod_template(name, wanted, fingerprints)
        self.declare(_job(name, template), after=[content], name=f"{NAMESPACE}/{NAME}")
        self.declare(_nightly(template), after=[content])
        self.register_outputs({})


def content_hash(files: Mapping[str, str], image: str) -> str:
    """Ten hexadecimal digits that change with any file and with Keycloak's version."""
    return hashlib.sha256(json.dumps([image, *sorted(files.items())]).encode()).hexdigest()[:10]


def _job(name: str, template: Mapping[str, Any]) -> dict[str, Any]:
    # A Job that failed for good is made anew by the next run of the program.
    annotations = {"pulumi.com/replaceUnready": "true"}
    return manifest(
        "batch/v1", "Job", name, namespace=NAMESPACE, labels=_LABELS, annotations=annotations, spec=_job_spec(template)
    )


def _nightly(template: Mapping[str, Any]) -> dict[str, Any]:
    spec = {
        "schedule": NIGHTLY,
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {"labels": _LABELS}, "spec": _job_spec(template)},
    }
    return manifest("batch/v1", "CronJob", "realm-drift", namespace=NAMESPACE, labels=_LABELS, spec=spec)


def _job_spec(template: Mapping[str, Any]) -> dict[str, Any]:
    return {"backoffLimit": 4, "activeDeadlineSeconds": DEADLINE_SECONDS, "template": template}


def _pod_template(
    config_map: str, clients: Iterable[OidcClient], fingerprints: Mapping[str, pulumi.Output[str]]
) -> dict[str, Any]:
    known = [fingerprints[client.client_id] for client in clients]
    annotations = {"home.platform/client-secrets": pulumi.Output.all(*known).apply(_digest)}
    return {
        "metadata": {"labels": _LABELS, "annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": POD_SECURITY,
            "containers": [_container()],
            "volumes": _volumes(config_map, clients),
        },
    }


def _digest(fingerprints: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(fingerprints).encode()).hexdigest()[:16]


def _container() -> dict[str, Any]:
    plain = {
        "KEYCLOAK_HOME": "/opt/keycloak",
        "KEYCLOAK_URL": URL,
        "REALM": REALM,
        "REALM_FILES": FILES_PATH,
        "REALM_SECRETS": SECRETS_PATH,
    }
    secrets = {"ADMIN_CLIENT": CLIENT_ID_KEY, "KC_CLI_CLIENT_SECRET": CLIENT_SECRET_KEY}
    return {
        "name": "kcadm",
        "image": IMAGE,
        "command": ["/bin/bash", f"{FILES_PATH}/{SCRIPT}"],
        "env": [
            *({"name": name, "value": value} for name, value in plain.items()),
            *({"name": name, **from_secret(ADMIN_SECRET, key)} for name, key in secrets.items()),
        ],
        "volumeMounts": [
            {"name": "files", "mountPath": FILES_PATH, "readOnly": True},
            {"name": "secrets", "mountPath": SECRETS_PATH, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - inside the container
        ],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {**CONTAINER_SECURITY, "readOnlyRootFilesystem": True},
    }


def _volumes(config_map: str, clients: Iterable[OidcClient]) -> list[dict[str, Any]]:
    sources = [
        {
            "secret": {
                "name": client.realm_secret.name,
                "items": [{"key": CLIENT_SECRET_KEY, "path": client.client_id}],
            }
        }
        for client in clients
    ]
    return [
        {"name": "files", "configMap": {"name": config_map}},
        {"name": "secrets", "projected": {"sources": sources}},
        # In memory: the CLI's session and here-documents hold secrets.
        {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    ]
