"""The secrets of the realm's clients: made once, one Secret for the consumer and one for Keycloak's side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import pulumi

from components.objects import KubernetesObject, secret
from components.platform import After, Component, Platform
from components.realm import CLIENT_ID_KEY, CLIENT_SECRET_KEY, COOKIE_SECRET_KEY, OidcClient

# 32 letters and digits: oauth2-proxy takes them for a key both as they are and decoded.
COOKIE_SECRET_LENGTH = 32
CLIENT_ID_PLACEHOLDER = "{clientId}"
CLIENT_SECRET_PLACEHOLDER = "{clientSecret}"  # noqa: S105 - stands for one


class ClientSecrets(Component):
    """Comes before Keycloak and before every consumer.

    `fingerprints` holds one Output for each client id: a hash that changes with the secret and gives nothing away.
    """

    def __init__(
        self,
        platform: Platform,
        clients: Iterable[OidcClient],
        *,
        texts: Mapping[str, Mapping[str, str]] | None = None,
        after: After = (),
    ) -> None:
        """texts: by client id, further keys of the consumer's Secret with {clientId} and {clientSecret} in them."""
        super().__init__(platform, "client-secrets", after=after)
        self._fingerprints: dict[str, pulumi.Output[str]] = {}
        self._secrets: dict[str, KubernetesObject] = {}
        for client in clients:
            self._declare_client(client, (texts or {}).get(client.client_id, {}))
        self.register_outputs({})

    @property
    def fingerprints(self) -> Mapping[str, pulumi.Output[str]]:
        """A hash of each client's secret and of the texts around it, by client id."""
        return self._fingerprints

    @property
    def secrets(self) -> Mapping[str, KubernetesObject]:
        """Each consumer's Secret, by client id."""
        return self._secrets

    def _declare_client(self, client: OidcClient, texts: Mapping[str, str]) -> None:
        value = self.generated_password(f"oidc-{client.client_id}", protect=False)
        known = {CLIENT_ID_KEY: pulumi.Output.secret(client.client_id), CLIENT_SECRET_KEY: value}
        known |= {key: _filled(text, client.client_id, value) for key, text in texts.items()}
        if COOKIE_SECRET_KEY in client.secret.keys:
            known[COOKIE_SECRET_KEY] = self.generated_password(
                f"cookie-{client.client_id}", length=COOKIE_SECRET_LENGTH, protect=False
            )
        if unknown := sorted(set(client.secret.keys) - set(known)):
            raise TypeError(f"Secret {client.secret.at}: nothing is generated for {', '.join(unknown)}")
        consumer, realm = client.secret, client.realm_secret
        self._secrets[client.client_id] = self.declare(
            secret(consumer.name, consumer.namespace, {key: known[key] for key in consumer.keys})
        )
        self.declare(secret(realm.name, realm.namespace, {CLIENT_SECRET_KEY: value}))
        self._fingerprints[client.client_id] = _fingerprint(value, texts)


def _filled(text: str, client_id: str, value: pulumi.Output[str]) -> pulumi.Output[str]:
    before = text.replace(CLIENT_ID_PLACEHOLDER, client_id)
    return value.apply(lambda known: before.replace(CLIENT_SECRET_PLACEHOLDER, known))


def _fingerprint(value: pulumi.Output[str], texts: Mapping[str, str]) -> pulumi.Output[str]:
    """Of 190 random bits a hash reveals nothing, so it may be read; an unknown value in a preview stays unknown."""
    around = "".join(f"\n{key}={text}" for key, text in sorted(texts.items()))
    return pulumi.Output.unsecret(value.apply(lambda known: _hash(known + around)))


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()[:16]
