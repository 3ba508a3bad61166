"""What each api sends, and reads; the shapes are those that its page documents."""

from __future__ import annotations

from typing import Any

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model.settings import EndpointConfig, SamplingConfig
from ci_eval.plugins.adapters.endpoints.apis import CATALOG
from ci_eval.plugins.adapters.endpoints.messages import Piece, Prompt

HOLE = Prompt(prefix="a(", suffix=")", max_tokens=9)
SAMPLING = SamplingConfig(temperature=0.5, top_p=0.9, seed=3, stop=("\n",))
COMMON = {"model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "stop": ["\n"]}
OPTIONS = {"num_predict": 9, "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["\n"], "num_ctx": 4096}


def body(api: str, prompt: Prompt = HOLE, template: str | None = None) -> dict[str, Any]:
    return CATALOG.load(api).body(prompt, EndpointConfig(model="m", sampling=SAMPLING, template=template))


@pytest.mark.parametrize(
    ("api", "template", "sent"),
    [
        ("completions", "suffix", {**COMMON, "seed": 3, "prompt": "a(", "suffix": ")"}),
        (
            "completions",
            "<{suffix}|{prefix}>",
            {**COMMON, "seed": 3, "prompt": "<)|a(>"},
        ),
        ("fim", None, {**COMMON, "random_seed": 3, "prompt": "a(", "suffix": ")"}),
        (
            "infill",
            None,
            {**{k: v for k, v in COMMON.items() if k != "max_tokens"}, "seed": 3, "n_predict": 9, "input_prefix": "a(",
             "input_suffix": ")"},
        ),
        ("ollama", None, {"model": "m", "prompt": "a(", "suffix": ")", "options": OPTIONS}),
    ],
)  # fmt: skip
def test_a_hole_is_sent_as_the_api_wants_it(api: str, template: str | None, sent: dict[str, Any]) -> None:
    assert body(api, template=template) == sent


def test_a_chat_is_told_where_the_hole_is() -> None:
    (message,) = body("chat")["messages"]
    assert message["role"] == "user"
    assert message["content"].endswith("<code>\na(<HOLE/>)\n</code>")


def test_a_family_brings_its_stops() -> None:
    assert body("completions", template="qwen")["stop"][:2] == ["\n", "<|fim_prefix|>"]


@pytest.mark.parametrize("api", ["chat", "completions", "fim", "ollama"])
def test_an_instruction_is_sent_as_it_is(api: str) -> None:
    sent = body(api, Prompt(instruction="Do {prefix}."))
    assert (
        sent.get("prompt", sent.get("messages", [{}])[0].get("content") if "messages" in sent else None)
        == "Do {prefix}."
    )
    assert "suffix" not in sent


def test_what_an_api_cannot_ask_is_refused() -> None:
    with pytest.raises(ConfigError, match="only fills holes"):
        body("infill", Prompt(instruction="Do."))
    with pytest.raises(ConfigError, match=r"engine\.template"):
        body("completions")


CACHED = {"prompt_tokens_details": {"cached_tokens": 90}}
USAGE = {"prompt_tokens": 4, "completion_tokens": 2}


@pytest.mark.parametrize(
    ("api", "answer", "piece"),
    [
        (
            "fim",
            {"model": "codestral", "choices": [{"message": {"content": "b"}, "finish_reason": "stop"}], "usage": USAGE},
            Piece(text="b", finish="stop", is_whole=True, model="codestral", prompt_tokens=4, answer_tokens=2),
        ),
        ("chat", {"choices": [{"delta": {"role": "assistant", "content": None}}]}, Piece()),
        ("chat", {"choices": [], "usage": USAGE}, Piece(prompt_tokens=4, answer_tokens=2, has_choice=False)),
        (
            "chat",
            {"choices": [{"text": "b", "finish_reason": "stop"}], "usage": {"prompt_tokens": 4, **CACHED}},
            Piece(text="b", finish="stop", prompt_tokens=94, cached_tokens=90),
        ),
        (
            "chat",
            {"choices": [{"message": {"content": [{"type": "refusal", "refusal": "No."}]}}]},
            Piece(refused=True, is_whole=True),
        ),
        ("completions", {"choices": [{"text": "b", "finish_reason": None}], "usage": None}, Piece(text="b")),
        (
            "ollama",
            {
                "model": "m",
                "response": "b",
                "done": True,
                "done_reason": "length",
                "prompt_eval_count": 4,
                "eval_count": 2,
            },
            Piece(text="b", finish="length", model="m", prompt_tokens=4, answer_tokens=2),
        ),
        ("ollama", {"model": "m", "response": "b", "done": False}, Piece(text="b", model="m")),
        (
            "infill",
            {"content": "b", "stop": False, "tokens_predicted": 1, "tokens_evaluated": 4},
            Piece(text="b"),
        ),
    ],
)
def test_an_answer_is_read_whole_or_in_pieces(api: str, answer: dict[str, Any], piece: Piece) -> None:
    assert CATALOG.load(api).read(answer) == piece
