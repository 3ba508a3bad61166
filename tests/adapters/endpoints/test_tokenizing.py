"""The tokenizer of a model's own server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.model.endpoints import EndpointConfig
from ci_eval.plugins.adapters.endpoints.client import Asking
from ci_eval.plugins.adapters.endpoints.tokenizing import Tokenizer
from tests.adapters.endpoints.scripted import sends, serve


def tokenizer(address: str, cache: Path, mode: Literal["keep", "offline"] = "keep") -> Tokenizer:
    given = EndpointConfig(endpoint=f"{address}/v1", model="tiny", retries=0)
    return Tokenizer(Asking(settings=given, mode=mode), cache, 20.0)


@pytest.mark.parametrize("tokens", [[], [1, 2, 3]])
def test_a_count_is_an_answer_without_text(tmp_path: Path, tokens: list[int]) -> None:
    with serve(sends(json.dumps({"tokens": tokens}))) as endpoint:
        assert tokenizer(endpoint.address, tmp_path).count("a b c") == len(tokens)
    assert tokenizer(endpoint.address, tmp_path, "offline").count("a b c") == len(tokens)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("reply", ['{"tokens": 3}', '{"count": 3}', '{"error": {"message": "no"}}', "no JSON"])
def test_an_answer_without_tokens_is_none(tmp_path: Path, reply: str) -> None:
    with serve(sends(reply)) as endpoint, pytest.raises(EngineFailure):
        tokenizer(endpoint.address, tmp_path).count("a b c")
