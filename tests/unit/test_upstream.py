"""Upstream files: where they come from, that the hash always counts, and what is said when they are out of reach."""

from __future__ import annotations

import hashlib
import io
import json
import re
import urllib.request
from pathlib import Path

import pytest

from components import upstream
from components.errors import PlatformError

CONTENT = b"kind: Namespace\n---\n\n---\nkind: ConfigMap\ndata: {sign: =}\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
URL = "https://127.0.0.1:1/releases/v1.2.3/install.yaml"


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, no mirror, and nothing remembered of other tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UPSTREAM_MIRROR", raising=False)
    monkeypatch.setattr(upstream, "_unreachable_hosts", set[str]())


def write_lock(directory: Path, **changes: object) -> Path:
    entry = {"name": "thing", "version": "v1.2.3", "role": "manifest", "url": URL, "sha256": SHA256, **changes}
    lock = directory / "upstream.lock.yaml"
    lock.write_text(json.dumps({"files": [{key: value for key, value in entry.items() if value is not None}]}))
    return lock


def fill_mirror(directory: Path, monkeypatch: pytest.MonkeyPatch, content: bytes = CONTENT) -> Path:
    file = directory / "mirror" / "127.0.0.1:1" / "releases" / "v1.2.3" / "install.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    monkeypatch.setenv("UPSTREAM_MIRROR", str(directory / "mirror"))
    return file


class Server:
    """Answers every download with one content and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: bytes | OSError) -> None:
        self.answer = answer
        self.asked: list[str] = []
        monkeypatch.setattr(urllib.request, "urlopen", self.open)

    def open(self, url: str, timeout: float) -> io.BytesIO:
        self.asked.append(url)
        assert 0 < timeout <= 10
        if isinstance(self.answer, OSError):
            raise self.answer
        return io.BytesIO(self.answer)


def test_the_mirror_is_read_by_host_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_mirror(tmp_path, monkeypatch)
    server = Server(monkeypatch, b"not this")
    assert upstream.read("thing", lock=write_lock(tmp_path)) == CONTENT
    assert server.asked == []


def test_a_download_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, CONTENT)
    lock = write_lock(tmp_path)
    assert [upstream.read("thing", lock=lock) for _ in range(3)] == [CONTENT] * 3
    assert server.asked == [URL]


def test_a_file_that_the_mirror_lacks_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_mirror(tmp_path, monkeypatch).unlink()
    Server(monkeypatch, CONTENT)
    assert upstream.read("thing", lock=write_lock(tmp_path)) == CONTENT


@pytest.mark.parametrize("place", ["mirror", "cache", "network"])
def test_other_content_is_refused_wherever_it_is_from(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = b"forged"
    if place == "mirror":
        fill_mirror(tmp_path, monkeypatch, forged)
    if place == "cache":
        cached = tmp_path / "cache" / "home-platform" / "upstream" / SHA256
        cached.parent.mkdir(parents=True)
        cached.write_bytes(forged)
    server = Server(monkeypatch, forged)
    with pytest.raises(PlatformError) as refused:
        upstream.read("thing", lock=write_lock(tmp_path))
    assert not isinstance(refused.value, upstream.UpstreamUnavailable)
    for part in ("thing", URL, SHA256, hashlib.sha256(forged).hexdigest()):
        assert part in str(refused.value)
    assert len(server.asked) == (place == "network")


def test_refused_content_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, b"forged")
    lock = write_lock(tmp_path)
    with pytest.raises(PlatformError):
        upstream.read("thing", lock=lock)
    server.answer = CONTENT
    assert upstream.read("thing", lock=lock) == CONTENT


def test_out_of_reach_is_named_with_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(upstream.UpstreamUnavailable) as unavailable:
        upstream.read("thing", lock=write_lock(tmp_path))
    (sentence,) = unavailable.value.sentences
    for part in ("thing v1.2.3", URL, "UPSTREAM_MIRROR", "network"):
        assert part in sentence


def test_an_unreachable_host_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(monkeypatch, TimeoutError("timed out"))
    lock = write_lock(tmp_path)
    for _ in range(3):
        with pytest.raises(upstream.UpstreamUnavailable):
            upstream.read("thing", lock=lock)
    assert len(server.asked) == 1


def test_documents_skip_the_empty_ones_and_read_a_bare_equals_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_mirror(tmp_path, monkeypatch)
    found = upstream.documents("thing", lock=write_lock(tmp_path))
    assert found == [{"kind": "Namespace"}, {"kind": "ConfigMap", "data": {"sign": "="}}]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"sha256": None}, "sha256"),
        ({"sha256": "abc"}, "64"),
        ({"url": "http://example.org/file"}, "https://"),
        ({"role": "something"}, "manifest"),
        ({"sah256": "x"}, "sah256"),
    ],
)
def test_a_bad_entry_is_named(changes: dict[str, object], complaint: str, tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=complaint):
        upstream.locked(write_lock(tmp_path, **changes))


def test_a_name_stands_once(tmp_path: Path) -> None:
    lock = write_lock(tmp_path)
    files = json.loads(lock.read_text())["files"]
    lock.write_text(json.dumps({"files": files * 2}))
    with pytest.raises(PlatformError, match="thing is given twice"):
        upstream.locked(lock)


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="no file other; it has: thing"):
        upstream.read("other", lock=write_lock(tmp_path))


def test_every_locked_url_carries_its_version_and_a_renovate_marker() -> None:
    files = upstream.locked()
    text = upstream.LOCK.read_text()
    assert "flux-operator" in files
    assert text.count("# renovate: datasource=") == len(files)
    # A repository without a tag for its chart is read at a commit.
    fixed = re.compile("/[0-9a-f]{40}/")
    urls = {file.name: file.url for file in files.values() if file.version not in file.url}
    assert [name for name, url in urls.items() if not fixed.search(url)] == []
