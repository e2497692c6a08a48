"""The platform's alerts. Those on nodes, pods and volumes filling up, and the Watchdog, come with the chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.alerts import alert, prometheus_rule, rule_group
from components.monitoring.flux import METRIC
from components.monitoring.names import NAMESPACE

DAY = 86400


def manifests(backups: Mapping[str, int]) -> list[dict[str, Any]]:
    """A PrometheusRule for each part of the platform that is watched."""
    groups = {
        "flux": flux_rules(),
        "certificates": certificate_rules(),
        "storage": storage_rules(),
        "backup": list(backup_rules(backups)),
    }
    return [
        prometheus_rule(f"platform-{name}", NAMESPACE.name, [rule_group(f"platform.{name}", *rules)])
        for name, rules in groups.items()
    ]


def flux_rules() -> list[dict[str, Any]]:
    """Without its pod's labels a series outlives a restart of kube-state-metrics, and the alert its waiting time."""
    objects = "max by (customresource_kind, exported_namespace, name)"
    name = "{{ $labels.customresource_kind }} {{ $labels.exported_namespace }}/{{ $labels.name }}"
    return [
        alert(
            "FluxObjectNotReady",
            f'{objects} ({METRIC}{{ready!="True", suspended!="true"}}) == 1',
            hold="15m",
            severity="warning",
            summary=f"{name} is not ready",
            description=f"What {name} declares has not reached the cluster for 15 minutes; its conditions say why.",
            page="monitoring",
        ),
        alert(
            "FluxObjectSuspended",
            # Only one stack writes new image tags to git.
            f'{objects} ({METRIC}{{suspended="true", customresource_kind!="ImageUpdateAutomation"}}) == 1',
            hold="24h",
            severity="warning",
            summary=f"{name} is suspended",
            description="Drift is not corrected and changes in git do not arrive until it is resumed.",
            page="monitoring",
        ),
        _blind("FluxStateUnknown", METRIC, "kube-state-metrics reports no object of Flux"),
    ]


def certificate_rules() -> list[dict[str, Any]]:
    """Let's Encrypt's certificates are renewed when a third of their life is left, 30 days of 90."""
    expiry = "certmanager_certificate_expiration_timestamp_seconds"
    # A certificate that was never issued has 0, and is the business of CertificateNotReady.
    left = f"min by (exported_namespace, name) ({expiry} > 0) - time()"
    name = "{{ $labels.exported_namespace }}/{{ $labels.name }}"
    rest = "{{ $value | humanizeDuration }}"
    return [
        alert(
            "CertificateNearExpiry",
            f"{left} < {14 * DAY}",
            hold="1h",
            severity="warning",
            summary=f"Certificate {name} expires in {rest}",
            description="It should have been renewed by now. Its CertificateRequest and Challenge say what fails.",
            page="monitoring",
        ),
        alert(
            "CertificateExpiresSoon",
            f"{left} < {3 * DAY}",
            hold="15m",
            severity="critical",
            summary=f"Certificate {name} expires in {rest}",
            description="Browsers will refuse what is behind it.",
            page="monitoring",
        ),
        alert(
            "CertificateNotReady",
            'max by (exported_namespace, name) (certmanager_certificate_ready_status{condition!="True"}) == 1',
            hold="30m",
            severity="warning",
            summary=f"Certificate {name} is not ready",
            description="It was not issued, or does not match its Secret.",
            page="monitoring",
        ),
        _blind("CertificateStateUnknown", expiry, "cert-manager reports no certificate"),
    ]


def storage_rules() -> list[dict[str, Any]]:
    """A rebuild of a replica after a node's restart takes minutes, and is no reason to call anybody."""
    volumes = "max by (volume, pvc_namespace, pvc)"
    metric = "longhorn_volume_robustness"
    name = "{{ $labels.volume }} ({{ $labels.pvc_namespace }}/{{ $labels.pvc }})"
    return [
        alert(
            "VolumeDegraded",
            f'{volumes} ({metric}{{state="degraded"}}) == 1',
            hold="30m",
            severity="warning",
            summary=f"Volume {name} is degraded",
            description="A replica is missing for 30 minutes: a node or disk is gone, or there is no room to rebuild.",
            page="monitoring",
        ),
        alert(
            "VolumeFaulted",
            f'{volumes} ({metric}{{state="faulted"}}) == 1',
            hold="2m",
            severity="critical",
            summary=f"Volume {name} is faulted",
            description="No replica is left that works. Its data is in the last backup.",
            page="monitoring",
        ),
        _blind("VolumeStateUnknown", metric, "Longhorn reports no volume"),
    ]


def backup_rules(backups: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """A schedule is late half a day after its longest gap, which gives the upload of large volumes its time."""
    metric = "velero_backup_last_successful_timestamp"
    for schedule, days in backups.items():
        selector = f'{metric}{{schedule="{schedule}"}}'
        yield alert(
            "BackupMissing",
            f"time() - max by (schedule) ({selector}) > {days * DAY + DAY // 2}",
            hold="15m",
            severity="critical",
            summary=f"No backup of schedule {schedule} in time",
            description=f"It should succeed every {days} days at least. `kubectl -n velero get backups` says more.",
            page="monitoring",
        )
        yield alert(
            "BackupNeverSucceeded",
            # Velero has no series for a schedule before its first success.
            f"absent({selector})",
            hold=f"{days * 24 + 12}h",
            severity="critical",
            summary=f"Schedule {schedule} has no backup at all",
            description="None has succeeded, or Velero is not scraped. `kubectl -n velero get backups` says more.",
            page="monitoring",
        )
    yield alert(
        "BackupFailed",
        'min by (schedule) (velero_backup_last_status{schedule!=""}) < 1',
        hold="15m",
        severity="warning",
        summary="The last backup of schedule {{ $labels.schedule }} failed",
        description="The next run may succeed; BackupMissing says when none has for too long.",
        page="monitoring",
    )


def _blind(name: str, metric: str, summary: str) -> dict[str, Any]:
    return alert(
        name,
        f"absent({metric})",
        hold="30m",
        severity="warning",
        summary=summary,
        description=f"The metric {metric} is missing, so the alerts on it cannot fire. Look at Prometheus' targets.",
        page="monitoring",
    )
