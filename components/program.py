"""The start of the program: everything that can be wrong with what people wrote is said before anything is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pulumi
from pulumi.runtime import config as runtime_config

from components import cilium, contracts, secrets
from components.errors import PlatformError
from components.platform import Platform, connect
from components.secrets import SecretUse
from components.settings import StackConfig, parse

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
    bootstrap = cilium.load_bootstrap(ROOT / contracts.BOOTSTRAP_FILE)
    mistakes = [
        *contracts.broken(stack, settings),
        *contracts.bootstrap_disagreements(bootstrap, cilium.platform_values(settings)),
        *secrets.problems(ROOT, stack, uses),
    ]
    if mistakes:
        raise PlatformError(*mistakes)
    return connect(stack, settings)


def _stack_config(stack: str) -> StackConfig:
    values = {key: str(value) for key, value in runtime_config.CONFIG.get().items()}
    encrypted = {key for key in values if runtime_config.is_config_secret(key)}
    return StackConfig(stack=stack, values=values, encrypted=encrypted)
