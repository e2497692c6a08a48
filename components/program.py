"""The start of the program: everything that can be wrong with what people wrote is said before anything is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pulumi
from pulumi.runtime import config as runtime_config

from components import cilium, contracts, contracts_network, secrets, upstream
from components.errors import PlatformError
from components.platform import Platform, connect
from components.secrets import SecretUse
from components.settings import Settings, StackConfig, parse
from components.versions import CILIUM

ROOT = Path(__file__).resolve().parent.parent


def run(declare: Callable[[Platform], None], uses: Iterable[SecretUse]) -> None:
    """Checks the stack and declares it. A user's mistake ends the run without a traceback."""
    try:
        declare(checked_platform(uses))
    except PlatformError as error:
        raise pulumi.RunError(str(error)) from None


def checked_platform(uses: Iterable[SecretUse]) -> Platform:
    """Settings, contracts and secret references, all held against each other. Raises PlatformError."""
    stack = pulumi.get_stack()
    settings = parse(_stack_config(stack))
    mistakes = [
        *contracts.broken(stack, settings),
        *_network_mistakes(settings),
        *secrets.problems(ROOT, stack, uses),
    ]
    if mistakes:
        raise PlatformError(*mistakes)
    return connect(stack, settings)


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
