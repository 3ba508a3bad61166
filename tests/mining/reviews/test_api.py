"""GitHub is asked page by page, and waited for when it says so."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ci_eval.core.base.errors import ConfigError, DownloadError
from ci_eval.plugins.mining.reviews.api import Api
from tests.mining.reviews.github import GitHub

SECRET = "ghp_secret"
NOW = 1_800_000_000.0


class Clock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.now, self.waits = NOW, list[float]()

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def api(github: GitHub, clock: Clock, patience: float = 7200.0) -> Api:
    return Api(SECRET, github.address, patience=patience, sleep=clock.sleep, now=lambda: clock.now)


def says(status: int, message: str = "No", **headers: object) -> tuple[int, bytes, dict[str, str]]:
    named = {name.replace("_", "-"): str(text) for name, text in headers.items()}
    return status, f'{{"message": "{message}"}}'.encode(), named


def test_a_list_is_read_to_its_last_page(github: GitHub) -> None:
    for number in range(7):
        github.comment(str(number))
    github.page = 3
    found = api(github, Clock()).listed("/repos/o/r/pulls/comments", sort="created")
    assert [each["body"] for each in found] == list("0123456")
    assert [target.rpartition("page=")[2] for target, _ in github.asked] == ["100", "2", "3"]


def test_a_next_page_elsewhere_does_not_get_the_token(github: GitHub) -> None:
    github.first = [(200, b"[]", {"link": '<http://127.0.0.2:9/x>; rel="next"'})]
    with pytest.raises(DownloadError, match="another server"):
        list(api(github, Clock()).listed("/repos/o/r/pulls/comments"))


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        (says(429, retry_after=30), [30]),
        (says(403, retry_after=30), [30]),
        (says(429, retry_after="Fri, 15 Jan 2027 08:01:40 GMT"), [100]),
        (says(403, x_ratelimit_remaining=0, x_ratelimit_reset=int(NOW) + 90), [91]),
        (says(429, x_ratelimit_remaining=0, x_ratelimit_reset=int(NOW) + 90), [91]),
        (says(403, "You have exceeded a secondary rate limit."), [60]),
        (says(429), [60]),
        (says(502), [1]),
    ],
)
def test_what_is_refused_for_now_is_asked_again_after_the_time_that_github_says(
    github: GitHub, answer: tuple[int, bytes, dict[str, str]], waits: list[float]
) -> None:
    clock = Clock()
    github.first = [answer]
    assert api(github, clock).get("/repos/o/r")["license"]["spdx_id"] == "MIT"
    assert clock.waits == waits


def test_where_no_time_is_named_each_wait_is_twice_the_last(github: GitHub) -> None:
    clock = Clock()
    github.first = [says(429)] * 3
    api(github, clock).get("/repos/o/r")
    assert clock.waits == [60, 120, 240]


def test_the_last_request_that_is_allowed_is_followed_by_none_before_the_reset(github: GitHub) -> None:
    clock = Clock()
    github.first = [(200, b"{}", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 9)})]
    asking = api(github, clock)
    asking.get("/repos/o/r")
    assert clock.waits == []
    asking.get("/repos/o/r")
    assert clock.waits == [10]


def test_who_would_have_to_wait_too_long_is_told_until_when(github: GitHub) -> None:
    github.first = [says(403, x_ratelimit_remaining=0, x_ratelimit_reset=int(NOW) + 3000)]
    with pytest.raises(DownloadError, match=r"no more requests until 08:50:01 UTC; .*GITHUB_TOKEN"):
        api(github, Clock(), patience=600).get("/repos/o/r")


@pytest.mark.parametrize(
    ("answer", "error"), [(says(404), DownloadError), (says(403), DownloadError), (says(401), ConfigError)]
)
def test_what_is_refused_for_good_is_asked_once(
    github: GitHub, answer: tuple[int, bytes, Mapping[str, str]], error: type[Exception]
) -> None:
    github.first = [(answer[0], answer[1], dict(answer[2]))]
    with pytest.raises(error, match=rf"GitHub answered {answer[0]} \(No\) to /repos/o/r") as raised:
        api(github, Clock()).get("/repos/o/r")
    assert len(github.asked) == 1
    assert SECRET not in str(raised.value)


def test_a_server_that_always_fails_or_is_not_there_is_an_error_in_the_end(github: GitHub) -> None:
    github.first = [says(500)] * 9
    with pytest.raises(DownloadError, match=r"GitHub answered 500 \(No\) in 5 attempts"):
        api(github, Clock()).get("/repos/o/r")
    github.address = "http://127.0.0.1:9"
    with pytest.raises(DownloadError, match=r"cannot be reached \(ConnectionError\) in 5 attempts"):
        api(github, Clock()).get("/repos/o/r")


def test_the_token_goes_along_unless_there_is_none(github: GitHub) -> None:
    api(github, Clock()).get("/repos/o/r")
    Api("", github.address).get("/repos/o/r")
    assert [headers.get("authorization") for _, headers in github.asked] == [f"Bearer {SECRET}", None]
    assert {headers["x-github-api-version"] for _, headers in github.asked} == {"2022-11-28"}
