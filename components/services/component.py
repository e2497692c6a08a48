"""One service in the cluster: everything that its file stands for, and nothing of another service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pulumi

from components.client_secrets import ClientSecrets
from components.helm import install
from components.oauth2_proxy import FINGERPRINT, NAMESPACE, RealmAddress, sign_in_proxy
from components.objects import KubernetesObject, secret
from components.platform import After, Component, Platform
from components.services import fence, secrets, service, sign_in
from components.services.auth import Oidc, Proxy
from components.services.claims import ClaimGuard, claims
from components.services.images import Images, image_policy
from components.services.routes import Entrance, proxied_routes, routes
from components.services.target import target
from components.services.workload import application


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the platform has around its services.

    client_secrets: of the realm's clients; `realm` is where the proxies find the realm.
    accounts: after which the realm knows those clients.
    """

    entrance: Entrance
    realm: RealmAddress
    client_secrets: ClientSecrets
    accounts: pulumi.Resource
    monitoring_namespace: str


@dataclass(frozen=True, kw_only=True)
class _Neighbourhood:
    """What the services share among each other; `services` are all of them by name."""

    services: Mapping[str, service.Service]
    surroundings: Surroundings
    images: Images
    guard: ClaimGuard


class Service(Component):
    """Fence and Secrets come first, then volumes, then the workload, then its sign-in, and the way in last."""

    def __init__(
        self, platform: Platform, wanted: service.Service, around: _Neighbourhood, *, after: After = ()
    ) -> None:
        super().__init__(platform, wanted.name, after=after)
        self._service = wanted
        self._around = around
        self._platform_around = around.surroundings
        fences = [self.declare(policy) for policy in fence.fence(wanted, around.services, self._fences())]
        ready = [*fences, *self._generated(), *self._volumes(), *self._client()]
        workload = [] if wanted.definition.backend else [self._workload(ready)]
        self._image_policy()
        self._way_in(workload or ready)
        self.register_outputs({})

    def _fences(self) -> fence.Surroundings:
        return fence.Surroundings(
            proxies=NAMESPACE,
            monitoring=self._platform_around.monitoring_namespace,
            gateway=self.settings.gateway.address,
        )

    def _generated(self) -> list[KubernetesObject]:
        return [self._secret(name, keys) for name, keys in secrets.generated(self._service).items()]

    def _secret(self, name: str, keys: tuple[str, ...]) -> KubernetesObject:
        namespace = self._service.namespace
        values = {key: self.generated_password(f"{namespace}/{name}/{key}") for key in keys}
        return self.declare(secret(name, namespace, values), protect=True)

    def _volumes(self) -> list[KubernetesObject]:
        guarded = self._around.guard.options
        return [self.declare(claim, protect=True, retain=True, options=guarded) for claim in claims(self._service)]

    def _client(self) -> list[pulumi.Resource]:
        """What a service waits for whose client is in the realm: the Secret beside it, and the realm itself."""
        client = sign_in.oidc_client(self._service)
        return (
            [self._platform_around.client_secrets.secrets[client.client_id], self._platform_around.accounts]
            if client
            else []
        )

    def _workload(self, ready: After) -> KubernetesObject:
        client = sign_in.oidc_client(self._service)
        fingerprint: dict[str, pulumi.Input[str]] = {}
        if client and isinstance(self._service.definition.auth, Oidc):
            fingerprint[FINGERPRINT] = self._platform_around.client_secrets.fingerprints[client.client_id]
        return install(self, application(self._service, fingerprint), after=ready)

    def _image_policy(self) -> None:
        policy, repository = image_policy(self._service), self._around.images.of(self._service)
        if policy and repository:
            self.declare(policy, after=[repository])

    def _way_in(self, after: After) -> None:
        """The routes; behind sign-in they lead to the proxy, which is the only one that the fence lets through."""
        wanted, auth = self._service, self._service.definition.auth
        backend = target(wanted)
        if backend is None or not wanted.hosts:
            return
        if isinstance(auth, Proxy):
            self._behind_proxy(auth, after)
            return
        for route in routes(wanted, self._platform_around.entrance, wanted.namespace, (backend.service, backend.port)):
            self.declare(route, after=after)

    def _behind_proxy(self, auth: Proxy, after: After) -> None:
        wanted, around = self._service, self._platform_around
        proxy = sign_in.proxy_for(
            wanted,
            auth,
            realm=around.realm,
            fingerprints=around.client_secrets.fingerprints,
            settings=self.settings,
        )
        release = sign_in_proxy(self, proxy, after=after)
        for route in proxied_routes(wanted, around.entrance, NAMESPACE, proxy.backend):
            self.declare(route, after=[release])


def declare_services(
    platform: Platform, services: Iterable[service.Service], surroundings: Surroundings, *, after: After = ()
) -> None:
    """Each service as a component of its own; what they share is declared once before them."""
    wanted = tuple(services)
    around = _Neighbourhood(
        services={each.name: each for each in wanted},
        surroundings=surroundings,
        images=Images(platform, wanted, after=after),
        guard=ClaimGuard(),
    )
    for each in wanted:
        Service(platform, each, around, after=after)
