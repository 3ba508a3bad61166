"""Downloads: the pinned bytes or an error, whatever the server does."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ChecksumError, ConfigError, DownloadError
from ci_eval.fetch.download import MAX_WAIT, check_url, download, shown
from tests.loopback import Reply, answers, sends, serve, stalls

BODY = b"0123456789" * 1000
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds between attempts, which no test waits."""
    seconds: list[float] = []
    monkeypatch.setattr("ci_eval.fetch.download.sleep", seconds.append)
    monkeypatch.setattr("ci_eval.fetch.download.TIMEOUT", (2.0, 0.3))
    return seconds


def fetch(cache: Path, *replies: Reply, sha256: str = SHA) -> Path:
    with serve(*replies) as server:
        return download(server.url(), sha256=sha256, cache=cache)


def leftovers(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def test_a_file_lands_at_a_place_named_by_its_content(tmp_path: Path) -> None:
    path = fetch(tmp_path, sends(BODY))
    assert path == tmp_path / "downloads" / "sha256" / SHA[:2] / SHA / "file.zip"
    assert path.read_bytes() == BODY
    assert leftovers(tmp_path) == [path]


def test_a_digest_in_capitals_is_the_same_digest(tmp_path: Path) -> None:
    assert fetch(tmp_path, sends(BODY), sha256=SHA.upper()).parent.name == SHA


def test_a_file_that_is_there_is_not_asked_for_again(tmp_path: Path) -> None:
    with serve(sends(BODY)) as server:
        first = download(server.url(), sha256=SHA, cache=tmp_path)
        assert download(server.url(), sha256=SHA, cache=tmp_path) == first
        assert len(server.asked) == 1


def test_a_damaged_file_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    fetch(tmp_path, sends(BODY)).write_bytes(b"poison")
    assert fetch(tmp_path, sends(BODY)).read_bytes() == BODY


def test_wrong_bytes_are_refused_with_both_digests_and_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ChecksumError) as caught:
        fetch(tmp_path, sends(b"other"))
    assert SHA in str(caught.value)
    assert hashlib.sha256(b"other").hexdigest() in str(caught.value)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    "trouble",
    [answers(503), answers(500), answers(429), sends(BODY[:77], length=len(BODY)), stalls(1.0)],
    ids=["503", "500", "429", "truncated", "stalled"],
)
def test_trouble_that_may_pass_is_tried_again(tmp_path: Path, trouble: Reply) -> None:
    assert fetch(tmp_path, trouble, sends(BODY)).read_bytes() == BODY


def test_nothing_of_a_truncated_attempt_stays_in_the_next(tmp_path: Path) -> None:
    wrong_and_short = sends(b"x" * 20_000, length=30_000)
    assert fetch(tmp_path, wrong_and_short, wrong_and_short, sends(BODY)).read_bytes() == BODY


def test_trouble_that_lasts_is_an_error_that_says_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"503 \(4 attempts\)"):
        fetch(tmp_path, answers(503))
    assert leftovers(tmp_path) == []


def test_a_server_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with serve(answers(200)) as server:
        url = server.url()
    with pytest.raises(DownloadError, match="NewConnectionError"):
        download(url, sha256=SHA, cache=tmp_path)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 204, 206])
def test_a_final_answer_is_not_asked_for_twice(tmp_path: Path, code: int) -> None:
    with serve(answers(code)) as server:
        with pytest.raises(DownloadError, match=str(code)):
            download(server.url(), sha256=SHA, cache=tmp_path)
        assert len(server.asked) == 1


def test_the_wait_a_server_asks_for_is_kept_up_to_a_limit(tmp_path: Path, waits: list[float]) -> None:
    with serve(answers(429, Retry_After="7"), answers(503, Retry_After="86400"), sends(BODY)) as server:
        download(server.url(), sha256=SHA, cache=tmp_path)
    assert waits == [7.0, MAX_WAIT]


def test_waits_grow_and_differ(tmp_path: Path, waits: list[float]) -> None:
    with serve(answers(503), answers(503), answers(503), sends(BODY)) as server:
        download(server.url(), sha256=SHA, cache=tmp_path)
    assert [1 <= waits[0] <= 2, 2 <= waits[1] <= 4, 4 <= waits[2] <= 8] == [True] * 3


@pytest.mark.parametrize("length", [None, 10], ids=["announced", "hidden"])
def test_more_bytes_than_allowed_are_refused(
    tmp_path: Path, length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ci_eval.fetch.download.MAX_BYTES", 99)
    with serve(sends(BODY)) as server, pytest.raises(DownloadError, match="larger than the 99 bytes"):
        download(server.url(), sha256=SHA, cache=tmp_path)


def test_a_redirect_on_this_machine_is_followed(tmp_path: Path) -> None:
    with serve(answers(302, Location="/there"), sends(BODY)) as server:
        download(server.url(), sha256=SHA, cache=tmp_path)
        assert server.asked == ["/file.zip", "/there"]


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://192.0.2.1/x", "http://127.0.0.1.example/x"]
)
def test_a_redirect_to_anything_but_https_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(DownloadError, match="is not allowed"):
        fetch(tmp_path, answers(302, Location=target))


def test_endless_redirects_end(tmp_path: Path) -> None:
    with serve(answers(302, Location="/again")) as server:
        with pytest.raises(DownloadError, match="more than 5 redirects"):
            download(server.url(), sha256=SHA, cache=tmp_path)
        assert len(server.asked) == 6


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/x",
        "file:///etc/passwd",
        "ftp://example.org/x",
        "https:///x",
        "http://localhost.example.org/x",
        "http://127.0.0.1@example.org/x",
        "http://127.0.0.1\\@example.org/x",
        "https://example.org/a b",
        "https://example.org/\r\nHost: x",
        "https://example.org:port/x",
        "https://[::1/x",
        "-o",
    ],
)
def test_an_address_that_is_not_https_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        check_url(url)


@pytest.mark.parametrize(
    "url", ["https://example.org/x", "http://127.0.0.1:1/x", "http://[::1]/x", "http://localhost/x"]
)
def test_https_and_this_machine_are_allowed(url: str) -> None:
    assert check_url(url).geturl() == url


def test_secrets_in_an_address_are_never_shown(tmp_path: Path) -> None:
    with serve(answers(404)) as server, pytest.raises(DownloadError) as caught:
        download(f"http://me:secret@{server.address}/x?token=secret#secret", sha256=SHA, cache=tmp_path)
    assert "secret" not in str(caught.value)
    assert shown("https://me:secret@example.org/x?token=secret") == "https://example.org/x"


def test_secrets_are_not_shown_when_the_connection_fails(tmp_path: Path) -> None:
    with serve(answers(200)) as server:
        url = server.url("/x?token=secret")
    with pytest.raises(DownloadError) as caught:
        download(url, sha256=SHA, cache=tmp_path)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", ["/", "/..", "/%2e%2e%2fevil", "/a%00b", "/.hidden", "/" + "x" * 400])
def test_an_odd_file_name_stays_in_the_cache(tmp_path: Path, path: str) -> None:
    with serve(sends(BODY)) as server:
        landed = download(server.url(path), sha256=SHA, cache=tmp_path)
    assert landed.resolve().parent.name == SHA
    assert 0 < len(landed.name) <= 100
    assert not landed.name.startswith(".")


@pytest.mark.parametrize("digest", ["", "abc", "g" * 64, "0" * 63])
def test_a_digest_that_is_none_is_a_config_error(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ConfigError, match="64 hex digits"):
        download("https://example.org/x", sha256=digest, cache=tmp_path)
