"""A small typed client of the Kubernetes API on httpx; works for every kind, custom resources included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import httpx

from platformctl.local import kubeconfig as kubeconfigs

APPLY = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
TIMEOUT_SECONDS = 30.0

Params = dict[str, str | int | bool]


class ApiError(Exception):
    """An answer that is not a success: HTTP status (0: no answer at all), Kubernetes reason and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{reason} ({status}): {message}" if status else message)
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def not_found(self) -> bool:
        """Whether the object, or its whole kind, does not exist."""
        return self.status == 404

    @property
    def conflict(self) -> bool:
        """Whether someone else changed or already created the object."""
        return self.status == 409


@dataclass(frozen=True, kw_only=True)
class ObjectRef:
    """Names one object; `namespace` is None for cluster-scoped kinds."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def of(cls, obj: dict[str, Any]) -> ObjectRef:
        """The reference to a manifest or to an object that was read."""
        metadata = obj["metadata"]
        return cls(
            api_version=obj["apiVersion"],
            kind=obj["kind"],
            name=metadata["name"],
            namespace=metadata.get("namespace"),
        )


@dataclass(frozen=True, kw_only=True)
class _Resource:
    plural: str
    kind: str
    namespaced: bool


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody else in whose name an administrator may ask, as with `kubectl --as --as-group`."""

    name: str
    groups: tuple[str, ...] = ()

    @property
    def headers(self) -> list[tuple[str, str]]:
        """What the API server wants to be told."""
        return [("Impersonate-User", self.name), *(("Impersonate-Group", group) for group in self.groups)]


class KubeApi:
    """A connection to one API server with verified TLS; safe to share between threads; a context manager."""

    def __init__(
        self,
        kubeconfig: Path,
        context: str | None = None,
        *,
        acting_as: User | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.connection = kubeconfigs.read(kubeconfig, context)
        headers = [("Authorization", f"Bearer {self.connection.token}")] if self.connection.token else []
        headers += acting_as.headers if acting_as else []
        self._client = httpx.Client(
            base_url=self.connection.server,
            verify=self.connection.ssl_context(),
            headers=[("Accept", "application/json"), *headers],
            timeout=timeout_seconds,
            trust_env=False,
        )
        self._discovered: dict[str, list[_Resource]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the pooled connections."""
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Params | None = None,
        content_type: str | None = None,
    ) -> dict[str, Any]:
        """One request with a JSON body; returns the JSON answer ({"text": …} for plain text) or raises ApiError."""
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": content_type or "application/json"}
        try:
            response = self._client.request(method, path, content=content, params=params, headers=headers)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if response.is_error:
            raise _error(response.status_code, response.text)
        if "json" not in response.headers.get("content-type", ""):
            return {"text": response.text}
        return cast("dict[str, Any]", response.json())

    def resource_path(
        self, api_version: str, kind_or_plural: str, namespace: str | None = None, name: str | None = None
    ) -> str:
        """The URL path of a collection or, with `name`, of an object; a namespaced kind without namespace: of all."""
        resource = self._resource(api_version, kind_or_plural)
        parts = [_root(api_version)]
        if resource.namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        parts.append(resource.plural)
        if name is not None:
            parts.append(name)
        return "/".join(parts)

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """One object; raises ApiError (`not_found`) if it or its kind does not exist."""
        return self.request("GET", self.resource_path(api_version, kind, namespace, name))

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, *, params: Params | None = None
    ) -> list[dict[str, Any]]:
        """Every object of a kind (in all namespaces by default), each with its apiVersion and kind."""
        answer = self.request("GET", self.resource_path(api_version, kind, namespace), params=params)
        common = {"apiVersion": api_version, "kind": self._resource(api_version, kind).kind}
        items = cast("list[dict[str, Any]]", answer.get("items") or [])
        return [{**common, **item} for item in items]

    def watch(
        self, api_version: str, kind: str, namespace: str | None = None, *, resource_version: str, seconds: int = 60
    ) -> Iterator[dict[str, Any]]:
        """Events ({"type", "object"}) after a resource version, for at most `seconds`."""
        params: Params = {"watch": True, "resourceVersion": resource_version, "timeoutSeconds": seconds}
        path = self.resource_path(api_version, kind, namespace)
        timeout = httpx.Timeout(TIMEOUT_SECONDS, read=seconds + TIMEOUT_SECONDS)
        try:
            with self._client.stream("GET", path, params=params, timeout=timeout) as response:
                if response.is_error:
                    raise _error(response.status_code, response.read().decode())
                yield from (json.loads(line) for line in response.iter_lines() if line)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def apply(
        self, obj: dict[str, Any], *, field_manager: str = "platformctl", force: bool = True, dry_run: bool = False
    ) -> dict[str, Any]:
        """Server-side apply of a manifest: creates the object or takes over the fields that it names.

        `dry_run` changes nothing and is strict: an unknown or repeated field is an error.
        """
        params: Params = {"fieldManager": field_manager, "force": force}
        params |= {"dryRun": "All", "fieldValidation": "Strict"} if dry_run else {}
        return self.request("PATCH", self._path(ObjectRef.of(obj)), body=obj, params=params, content_type=APPLY)

    def patch(self, obj_ref: ObjectRef, change: dict[str, Any]) -> dict[str, Any]:
        """Merge-patches an object (not its status, where that is a subresource)."""
        return self.request("PATCH", self._path(obj_ref), body=change, content_type=MERGE_PATCH)

    def patch_status(self, obj_ref: ObjectRef, status: dict[str, Any]) -> dict[str, Any]:
        """Merge-patches the status subresource: a key set to None is removed, a list is replaced as a whole."""
        path = f"{self._path(obj_ref)}/status"
        return self.request("PATCH", path, body={"status": status}, content_type=MERGE_PATCH)

    def delete(
        self, api_version: str, kind: str, name: str, namespace: str | None = None, *, missing_ok: bool = True
    ) -> None:
        """Deletes in the background; an object that is already gone is fine unless `missing_ok` is off."""
        try:
            path = self.resource_path(api_version, kind, namespace, name)
            self.request("DELETE", path, body={"propagationPolicy": "Background"})
        except ApiError as error:
            if not (missing_ok and error.not_found):
                raise

    def _path(self, ref: ObjectRef) -> str:
        namespace = ref.namespace
        if namespace is None and self._resource(ref.api_version, ref.kind).namespaced:
            namespace = "default"
        return self.resource_path(ref.api_version, ref.kind, namespace, ref.name)

    def _resource(self, api_version: str, kind_or_plural: str) -> _Resource:
        """Looks a kind up in what was discovered, and once more in a fresh answer: a CRD may have appeared."""
        for fresh in (False, True):
            if fresh or api_version not in self._discovered:
                answer = self.request("GET", _root(api_version))
                self._discovered[api_version] = _resources(answer)
            for resource in self._discovered[api_version]:
                if kind_or_plural in (resource.kind, resource.plural):
                    return resource
        raise ApiError(404, "NotFound", f"the server has no {kind_or_plural} in {api_version}")

    def _unreachable(self, error: httpx.HTTPError) -> ApiError:
        text = str(error) or type(error).__name__
        return ApiError(0, "Unreachable", f"the API server at {self.connection.server} did not answer: {text}")


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _resources(answer: dict[str, Any]) -> list[_Resource]:
    """The kinds of an APIResourceList without their subresources."""
    return [
        _Resource(plural=entry["name"], kind=entry["kind"], namespaced=entry["namespaced"])
        for entry in answer["resources"]
        if "/" not in entry["name"]
    ]


def _error(code: int, text: str) -> ApiError:
    """Reads a Kubernetes Status out of an answer; other answers keep their text."""
    try:
        status: Any = json.loads(text)
        return ApiError(code, str(status.get("reason") or "Unknown"), str(status.get("message") or text))
    except (ValueError, AttributeError):
        return ApiError(code, "Unknown", text.strip())
