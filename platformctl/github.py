"""GitHub's REST API for one repository, as a workflow reaches it: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from components.errors import PlatformError

_TIMEOUT_SECONDS = 30
_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class GitHub:
    """`api` is the base URL, `repository` is OWNER/NAME. The token reaches nothing but the header."""

    api: str
    repository: str
    token: str

    @staticmethod
    def from_environment() -> GitHub:
        """As a workflow sets it. Raises PlatformError that names what is missing."""
        missing = [key for key in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not os.environ.get(key)]
        if missing:
            raise PlatformError(
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set; a workflow has the first, "
                "and passes the token as `GITHUB_TOKEN: ${{ github.token }}`"
            )
        api = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
        return GitHub(api=api.rstrip("/"), repository=os.environ["GITHUB_REPOSITORY"], token=os.environ["GITHUB_TOKEN"])

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: str | int) -> Any:
        """The answer's JSON; `path` is below the repository. Raises PlatformError with what GitHub says."""
        return self._send(method, f"{self.api}/repos/{self.repository}/{path}", body, query)

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Any:
        """The answer's data. Raises PlatformError with the first error."""
        # On a server of one's own REST is below /api/v3, and GraphQL beside it.
        url = f"{self.api.removesuffix('/v3')}/graphql"
        answer = self._send("POST", url, {"query": query, "variables": dict(variables)}, {})
        if errors := answer.get("errors"):
            raise PlatformError(f"GitHub refuses: {errors[0]['message']}")
        return answer["data"]

    def items(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page."""
        page = 1
        while True:
            found: list[dict[str, Any]] = self.call("GET", path, None, **query, per_page=_PAGE, page=page)
            yield from found
            if len(found) < _PAGE:
                return
            page += 1

    def _send(self, method: str, url: str, body: Mapping[str, Any] | None, query: Mapping[str, str | int]) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"}
        try:
            answer = httpx.request(
                method, url, json=body, params=dict(query), headers=headers, timeout=_TIMEOUT_SECONDS
            )
        except httpx.HTTPError as error:
            raise PlatformError(f"{method} {url} failed: {error}") from None
        if answer.is_error:
            raise PlatformError(f"{method} {url} is answered with {answer.status_code}: {answer.text[:300]}")
        return answer.json() if answer.content else None
