"""Log-probabilities, in all shapes in which endpoints tell them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.core.config import load
from ci_eval.core.contracts import Query
from ci_eval.core.model import Usage
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.engine import make_endpoint_engine, measure_usage, read_answer
from ci_eval.plugins.adapters.endpoints.messages import Prompt, Reply, mean_logprob, read_logprobs
from tests.adapters.endpoints.scripted import says, sends, serve, whole


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (None, ()),
        ({"content": None}, ()),
        ({"content": [{"token": "é", "bytes": [195, 169], "logprob": -0.5}]}, ((2, -0.5),)),
        ({"content": [{"token": "é", "bytes": None, "logprob": -1}]}, ((2, -1.0),)),
        ({"content": [{"token": "\ufffd", "bytes": [195], "logprob": 0.0}]}, ((1, 0.0),)),
        ({"tokens": ["a", "é"], "token_logprobs": [-1.0, -2.0], "text_offset": [0, 1]}, ((1, -1.0), (2, -2.0))),
        ([{"token": "ab", "logprob": -0.25, "top_logprobs": []}], ((2, -0.25),)),
        ([{"token": "a", "logprob": None}, {"token": "b", "logprob": -1.0}], ((1, None), (1, -1.0))),
        ({"tokens": ["a", "b"], "token_logprobs": [None, -0.5]}, ((1, None), (1, -0.5))),
        ([{"token": "a", "logprob": float("nan")}], ((1, None),)),
        ([{"token": "a", "logprob": -3.4e38}, {"token": "b", "logprob": 1e-9}], ((1, -9999.0), (1, 0.0))),
    ],
)
def test_each_shape_is_read(told: Any, read: object) -> None:
    assert read_logprobs(told) == read


@pytest.mark.parametrize(
    "told",
    [
        [{"token": "a"}],
        [{"token": 1, "logprob": -1.0}],
        {"tokens": ["a"], "token_logprobs": [-1.0, -2.0]},
        5,
    ],
)
def test_what_is_no_log_probability_costs_no_answer(told: Any) -> None:
    assert read_logprobs(told) == ()


def _usage(reply: Reply, before: str, asked: Query, api: Any) -> Usage:
    part = read_answer(
        reply.text, before, replace(asked, offset=len(before)), EndpointConfig(api=api), grammar="", language=""
    )
    return measure_usage(reply, before, asked, None, part)


def query(span: Any = "line", prefix: str = "") -> Query:
    return Query(offset=0, prefix=prefix, expected="", span=span)


def test_the_mean_is_over_the_tokens_of_the_suggestion_alone() -> None:
    logprobs = ((4, -9.0), (2, -1.0), (1, -3.0), (0, -5.0), (3, -9.0))
    fenced = Reply(text="```\né+\nb", logprobs=logprobs)
    assert mean_logprob(fenced, 4, 6) == -2.0
    assert _usage(fenced, "x = ", query(), "chat").logprob == -2.0
    assert mean_logprob(fenced, 4, 4) is None


@pytest.mark.parametrize(
    ("answer", "before", "asked", "mean"),
    [
        ("ab cd", "", query("word"), -1.0),
        (" ab", "x = ", query("word"), -1.5),
        ("ab;cd", "", query("statement"), -1.0),
        ("(ab", "f", query("word"), None),
        ("", "", query(), None),
    ],
)
def test_what_is_cut_off_does_not_count(answer: str, before: str, asked: Query, mean: float | None) -> None:
    reply = Reply(text=answer, logprobs=tuple((1, value) for value in (-1.0, -1.0, -2.0, -4.0, -4.0)))
    expected = -4 / 3 if answer == "ab;cd" else mean
    assert _usage(reply, before, asked, "completions").logprob == (expected and pytest.approx(expected))


def test_they_are_asked_for_and_kept_with_the_answer(tmp_path: Path) -> None:
    answer = whole("ab")
    answer["choices"][0]["logprobs"] = {"content": [{"token": "ab", "bytes": [97, 98], "logprob": -0.5}]}
    with serve(sends(json.dumps(answer))) as endpoint:
        given = EndpointConfig(endpoint=endpoint.address, model="m", logprobs=True, stream=False)
        for mode in ("keep", "offline"):
            reply = Client(Asking(settings=given, mode=mode), tmp_path, 5.0).ask(Prompt(instruction="x"))
            assert reply.logprobs == ((2, -0.5),)
    assert [(body["logprobs"], body["top_logprobs"]) for body in endpoint.asked] == [(True, 1)]


def test_an_endpoint_that_tells_none_is_refused(tmp_path: Path) -> None:
    with serve(says("ab")) as endpoint:
        given = EndpointConfig(endpoint=endpoint.address, model="m", logprobs=True)
        with pytest.raises(InstallError, match=r"no log-probabilities .* engine\.logprobs"):
            make_endpoint_engine(given, None, holes=True).install(None, tmp_path)


def test_an_api_that_has_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="fim returns no log-probabilities"):
        load(None, overrides=['engine={"endpoint": "https://h/v1", "model": "m", "api": "fim", "logprobs": true}'])
