"""What `ci-eval doctor --endpoint` says of an endpoint."""

from __future__ import annotations

import click
import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import PreparationError
from ci_eval.plugins.adapters.endpoints.examining import examine
from tests.adapters.endpoints.scripted import fails, says, serve


def test_an_endpoint_that_only_chats_says_so() -> None:
    with serve(says("<think>hm</think>ok")) as endpoint:
        abilities = {each.what: each for each in examine(endpoint.address, "tiny", None)}
    good = {what for what, each in abilities.items() if each.good}
    assert {"chat in one piece", "chat as a stream", "tokens are counted in a stream", "field seed"} <= good
    assert not good & {"log-probabilities", "fim", "completions, holes by `suffix`", "the limit of tokens is heeded"}
    assert "the model thinks" in abilities["thoughts"].detail
    assert "engine.logprobs: false" in abilities["log-probabilities"].detail


def test_the_table_says_what_to_set_where_a_field_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = fails(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    with serve(refusal) as endpoint, pytest.raises(PreparationError, match="answers in none of the ways"):
        cli.main(["doctor", "--endpoint", endpoint.address, "--model", "tiny"], standalone_mode=False)
    assert "max_completion_tokens: 1024" in " ".join(capsys.readouterr().out.split())


def test_a_model_without_an_endpoint_is_a_mistake() -> None:
    with pytest.raises(click.UsageError, match="--endpoint"):
        cli.main(["doctor", "--model", "tiny"], standalone_mode=False)
