"""Every Secret that the platform refers to by name, gathered from the components for the program and the helper CLI."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from components import (
    cert_manager,
    external_dns,
    flux,
    household,
    interfaces,
    keycloak,
    longhorn,
    monitoring,
    sync,
    velero,
)
from components.secrets import SecretUse

SECRETS: tuple[SecretUse, ...] = (
    *flux.SECRETS,
    *sync.SECRETS,
    *cert_manager.SECRETS,
    *external_dns.SECRETS,
    *interfaces.SECRETS,
    *keycloak.SECRETS,
    *longhorn.SECRETS,
    *monitoring.SECRETS,
    *velero.SECRETS,
)

CONFIG_KEYS: Mapping[str, str] = {flux.DEPLOY_KEY.at: "deployKey", flux.AGE_KEY.at: "ageKey"}
"""The stack config key behind each Secret that comes from secret stack config."""


def all_uses(root: Path) -> tuple[SecretUse, ...]:
    """Those of the platform, and those of the household whose files are below `root`."""
    return (*SECRETS, *household.secret_uses(root))
