"""The kinds of values that people write: each refuses what only looks right, and says in words what it wants."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

_LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"

DnsName = Annotated[
    str,
    Field(
        pattern=rf"^({_LABEL}\.)+[a-z]{{2,63}}$",
        max_length=253,
        description="a lower-case DNS name such as dev.home.example.org",
    ),
]
Label = Annotated[
    str,
    Field(pattern=rf"^{_LABEL}$", description="a name of lower-case letters, digits and hyphens, such as printer-vlan"),
]
GoDuration = Annotated[
    str, Field(pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", description="a duration such as 10m or 1h30m")
]
VolumeSize = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,4}Gi$", description="a size in GiB such as 20Gi")]
Days = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,3}d$", description="a number of days such as 14d")]
Replicas = Annotated[int, Field(ge=1, le=9, description="a whole number from 1 to 9")]
Email = Annotated[
    str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="an e-mail address such as ops@example.org")
]
GitUrl = Annotated[
    str,
    Field(
        pattern=r"^ssh://[^@/\s]+@[^/\s]+/\S+$",
        description="an SSH address such as ssh://git@git.example.org/household/platform.git",
    ),
]
K3sVersion = Annotated[
    str,
    Field(
        pattern=r"^v[0-9]+\.[0-9]+\.[0-9]+\+k3s[0-9]+$",
        description="the version that `k3s --version` prints, such as v1.35.4+k3s1",
    ),
]
KubeContext = Annotated[
    str, Field(min_length=1, pattern=r"^\S+$", description="the name of a context in your kubeconfig, without spaces")
]
UserName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9@:._/-]+$",
        max_length=253,
        description="a name of letters, digits and @:._/- such as platform-deploy",
    ),
]
Interface = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9._-]{0,13}\+?$", description="a network interface such as eno1 or enp+")
]


def _address(value: Any) -> Any:
    return IPv4Address(value) if isinstance(value, str) else value


def _network(value: Any) -> Any:
    """Only with a prefix length: a lone address would be taken for a network of one."""
    if isinstance(value, str) and re.fullmatch(r"[0-9.]+/[0-9]{1,2}", value):
        return IPv4Network(value)
    return value


Address = Annotated[IPv4Address, BeforeValidator(_address), Field(description="an IPv4 address such as 192.168.10.10")]
Network = Annotated[
    IPv4Network,
    BeforeValidator(_network),
    Field(
        description="a network such as 10.42.0.0/16, with zeros after the prefix",
        json_schema_extra={"pattern": r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$"},
    ),
]


class Model(BaseModel):
    """Keys are camelCase; an unknown key is a mistake, never ignored; no value is turned into another type.

    The engine hands over each top-level scalar as text, so a number or a boolean belongs inside a map.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, str_strip_whitespace=True
    )
