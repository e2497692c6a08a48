"""The start of the program: everything that can be wrong with what people wrote is said before anything is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pulumi
from pulumi.runtime import config as runtime_config

from components import cilium, contracts, contracts_network, household, secrets, upstream
from components.errors import PlatformError
from components.household import Household
from components.platform import Platform, connect
from components.secrets import SecretUse
from components.settings import Settings, StackConfig, parse
from components.versions import CILIUM

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class Own:
    """What belongs to the platform itself, so that nothing of the household may take it.

    secrets: that it refers to by name. namespaces: that it declares. clients: its ids in the realm.
    """

    secrets: Iterable[SecretUse]
    namespaces: Iterable[str]
    clients: Iterable[str]


def run(declare: Callable[[Platform, Household], None], own: Own) -> None:
    """Checks the stack and the household and declares them. A user's mistake ends the run without a traceback."""
    try:
        declare(*checked(own))
    except PlatformError as error:
        raise pulumi.RunError(str(error)) from None


def checked(own: Own) -> tuple[Platform, Household]:
    """Settings, contracts, definitions and secret references, held against each other. Raises PlatformError."""
    stack = pulumi.get_stack()
    settings = parse(_stack_config(stack))
    mistakes = [*contracts.broken(stack, settings), *_network_mistakes(settings)]
    found, wrong = _household(settings, own)
    mistakes += [*wrong, *secrets.problems(ROOT, stack, [*own.secrets, *found.secret_uses])]
    if mistakes:
        raise PlatformError(*mistakes)
    return connect(stack, settings), found


def _household(settings: Settings, own: Own) -> tuple[Household, list[str]]:
    """The household, empty where its files have mistakes, and a sentence for each mistake."""
    try:
        found = household.load(ROOT, settings)
    except PlatformError as error:
        return Household(), list(error.sentences)
    return found, list(found.mistakes(own.namespaces, own.clients))


def _network_mistakes(settings: Settings) -> list[str]:
    """What the bootstrap's files, the pinned cilium and the pinned Gateway API say against each other."""
    bootstrap = cilium.load_bootstrap(ROOT / contracts.BOOTSTRAP_FILE)
    chart = cilium.load_bootstrap(ROOT / contracts_network.BOOTSTRAP_CHART)
    definitions = upstream.locked()[contracts_network.GATEWAY_API]
    values = cilium.complete_values(settings, bootstrap, definitions.version)
    return [
        *contracts.bootstrap_disagreements(bootstrap, cilium.platform_values(settings)),
        *contracts_network.bootstrap_chart_differs(chart, CILIUM, cilium.NAMESPACE),
        *contracts_network.egress_gateway_lacks(values),
        *contracts_network.gateway_api_misfits(CILIUM, definitions),
    ]


def _stack_config(stack: str) -> StackConfig:
    values = {key: str(value) for key, value in runtime_config.CONFIG.get().items()}
    encrypted = {key for key in values if runtime_config.is_config_secret(key)}
    return StackConfig(stack=stack, values=values, encrypted=encrypted)
