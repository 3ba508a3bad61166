"""Whether an endpoint heeds what stands behind the caret."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import click
import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.engine import probe
from ci_eval.plugins.adapters.endpoints.probing import SAMPLE, examine
from tests.adapters.endpoints.scripted import Reply, fails, says, sends, serve


def counts(*fields: str, usage: bool = True) -> Reply:
    """An endpoint that takes these fields into its count of tokens."""

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        tokens = sum(len(str(body.get(field, "")).split()) for field in fields)
        answer = {"model": "m-2", "choices": [{"text": "x", "finish_reason": "length"}]}
        told = {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}} if usage else {}
        sends(json.dumps(answer | told))(handler, body)

    return reply


def probed(tmp_path: Path, reply: Reply, *, template: str = "suffix", holes: bool = True) -> str:
    with serve(reply) as endpoint:
        given = EndpointConfig(
            endpoint=endpoint.address, model="m", api="completions", template=template, stream=False, retries=0
        )
        return probe(Client(Asking(settings=given, mode="keep"), tmp_path, 10.0), given, holes=holes)


def test_an_endpoint_that_counts_the_suffix_is_taken_and_named(tmp_path: Path) -> None:
    assert probed(tmp_path, counts("prompt", "suffix")) == "m-2"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (counts("prompt"), "ignores the text after the caret"),
        (counts(usage=False), "does not count the tokens"),
        (fails(400, "suffix is not currently supported"), "not currently supported"),
    ],
    ids=["ignored", "untold", "refused"],
)
def test_one_that_does_not_show_that_it_heeds_a_suffix_is_refused(tmp_path: Path, reply: Reply, said: str) -> None:
    with pytest.raises(InstallError, match=said):
        probed(tmp_path, reply)


@pytest.mark.parametrize(
    "answer", ["<html>Sign in</html>", '{"content": [{"type": "text", "text": "x"}]}'], ids=["page", "another API"]
)
def test_an_answer_that_is_no_completion_says_where_to_look(tmp_path: Path, answer: str) -> None:
    with pytest.raises(InstallError, match=r"check engine\.api and the path of engine\.endpoint"):
        probed(tmp_path, sends(answer.encode()))


@pytest.mark.parametrize(("template", "holes"), [("qwen", True), ("suffix", False)])
def test_where_no_suffix_is_sent_none_is_probed(tmp_path: Path, template: str, holes: bool) -> None:
    assert probed(tmp_path, counts("prompt"), template=template, holes=holes) == "m-2"


def test_an_endpoint_that_only_chats_says_so() -> None:
    with serve(says("<think>hm</think>ok")) as endpoint:
        abilities = {each.what: each for each in examine(endpoint.address, "tiny", None)}
    good = {what for what, each in abilities.items() if each.good}
    assert {"chat in one piece", "chat as a stream", "tokens are counted in a stream", "field seed"} <= good
    assert not good & {
        "log-probabilities",
        "fim",
        "completions, holes by `suffix`",
        "the endpoint obeys the token limit",
    }
    assert "the model thinks" in abilities["thoughts"].detail
    assert "set engine.logprobs to false" in abilities["log-probabilities"].detail


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("```python\n@\n```", "fence 20"),
        ("Here it is:\n```\n@\n```\nThat is all.", "words around 20"),
        ("@", "as it is 20"),
        ("I cannot see what belongs there.", "unreadable 20"),
    ],
)
def test_the_forms_of_answers_at_twenty_carets_are_counted(answer: str, form: str) -> None:
    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        before, _, after = body["messages"][0]["content"].rpartition("<code>\n")[2].partition("<HOLE/>")
        right = SAMPLE.removeprefix(before).partition("\n")[0]
        # The question does not hold its answer.
        assert not after.startswith(right)
        says(answer.replace("@", right))(handler, body)

    with serve(reply) as endpoint:
        abilities = {each.what: each for each in examine(endpoint.address, "tiny", None)}
    assert (abilities["20 carets"].detail, abilities["20 carets"].good) == (form, "unreadable" not in form)
    if "unreadable" not in form:
        assert abilities[f"caret 1: {form.removesuffix(' 20')}"].detail.endswith("is read as 'add(a, b):'")


def test_the_table_says_what_to_set_where_a_field_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = fails(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    with serve(refusal) as endpoint, pytest.raises(PreparationError, match="answers none of the requests"):
        cli.main(["doctor", "--endpoint", endpoint.address, "--model", "tiny"], standalone_mode=False)
    assert "max_completion_tokens: 1024" in " ".join(capsys.readouterr().out.split())


def test_a_model_without_an_endpoint_is_a_mistake() -> None:
    with pytest.raises(click.UsageError, match="--endpoint"):
        cli.main(["doctor", "--model", "tiny"], standalone_mode=False)
