"""The kinds of values in definitions of services and machines."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

# 40 characters leave room for what is derived from it: `oauth2-proxy-<name>` and `<name>-<volume>` stay below 63.
DefinitionName = Annotated[
    str,
    Field(
        pattern=r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$",
        description="a name of at most 40 lower-case letters, digits and inner hyphens that begins with a letter, "
        "such as photos",
    ),
]
HostLabel = Annotated[
    str,
    Field(
        pattern=r"^(@|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$",
        description="one label below the stack's domain in lower-case letters, digits and hyphens, such as photos "
        "for photos.<domain>, or @ for the domain itself",
    ),
]
ObjectName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$",
        description="the name of a Kubernetes object in lower-case letters, digits, dots and hyphens, such as db",
    ),
]
SecretKey = Annotated[
    str,
    Field(
        pattern=r"^[-._a-zA-Z0-9]{1,253}$",
        description="the key in a Secret, of letters, digits and -._ such as api-key",
    ),
]
EnvName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of an environment variable of letters, digits and _ such as TZ",
    ),
]
Port = Annotated[int, Field(ge=1, le=65535, description="a port from 1 to 65535")]
MountPath = Annotated[
    str,
    Field(
        pattern=r"^(/[^/:\s]+)+$",
        max_length=512,
        description="an absolute path in the container, such as /config, without a slash at its end",
    ),
]
Reason = Annotated[
    str,
    Field(min_length=12, max_length=300, description="the reason in a few words, so that others can judge it later"),
]
CpuQuantity = Annotated[
    str, Field(pattern=r"^([1-9][0-9]{0,5}m|[1-9][0-9]{0,2})$", description="CPU time such as 100m or 2, in quotes")
]
MemoryQuantity = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}(Mi|Gi)$", description="memory such as 256Mi or 2Gi")]
Digest = Annotated[
    str, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="sha256: and the 64 hex digits of the image")
]
GroupName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        description="the name of a group of home:keycloak.groups, such as family",
    ),
]
