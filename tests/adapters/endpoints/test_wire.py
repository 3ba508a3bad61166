"""The bodies of responses as servers and proxies really send them; and exchanges that would never end: the limit holds
from the first byte sent to the last one received."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from typing import Any

import pytest

from ci_eval.plugins.adapters.endpoints import apis
from ci_eval.plugins.adapters.endpoints.trouble import Trouble
from ci_eval.plugins.adapters.endpoints.wire import Assembly, Wire, lines


def read(body: str | bytes, *, streamed: bool = True, api: str = "chat", size: int = 7) -> Assembly:
    """The answer in a body that comes in parts of `size` bytes."""
    data = body if isinstance(body, bytes) else body.encode()
    parts = [data[begin : begin + size] for begin in range(0, len(data), size)]
    return Assembly(apis.CATALOG.load(api)).read(parts, streamed=streamed)


def chunk(text: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish, **more}]}


def message(content: Any, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": content, **more}, "finish_reason": finish}]}


def sent(*events: Any, end: str = "\n\n") -> str:
    return "".join(f"data: {event if isinstance(event, str) else json.dumps(event)}{end}" for event in events)


TWO = (chunk("fo"), chunk("ur", "stop"), "[DONE]")


@pytest.mark.parametrize(
    "body",
    [
        sent(*TWO),
        sent({"type": "ping"}, *TWO),
        sent("", *TWO),
        sent("ping", *TWO),
        ": keep-alive\n\nevent: message\nid: 1\nretry: 5\n" + sent(*TWO),
        "\ufeff" + sent(*TWO),
        sent(*TWO, end="\r\n\r\n"),
        sent(*TWO, end="\r\r"),
        sent(*TWO, end="\n"),
        "".join(f"data:{json.dumps(each)}\n" for each in TWO[:2]),
        "data: " + json.dumps(chunk("four", "stop"), indent=1).replace("\n", "\ndata: ") + "\n\n",
        json.dumps(message("four"), indent=2),
        json.dumps([message("four")]),
        json.dumps(message({"type": "text", "text": "four"})),
        json.dumps({"choices": [{"index": 0, "text": "four", "finish_reason": "stop"}]}),
        json.dumps(message("four", None), indent=2),
        "".join(json.dumps(each) + "\n" for each in TWO[:2]),
        sent(*TWO[:2], {"choices": [], "usage": {"prompt_tokens": 3}}, {"obfuscation": "x"}),
        sent(chunk("fo", message={"content": None}), chunk("ur", "stop", message={"content": "four"})),
        sent(chunk("four"), message("four")),
        sent({"choices": [{"index": 1, "delta": {"content": "five"}}]}, *TWO),
        sent({"choices": [{"index": 1, "delta": {"content": "b"}}, *chunk("four")["choices"]]}, chunk("", "stop")),
        sent(chunk([{"type": "text", "text": "four"}], "stop")),
        sent(chunk("fo", "null"), chunk("ur", "stop")),
        sent(chunk("four", "STOP")),
        sent(chunk("four", "stop", logprobs={"content": [{"token": "x", "logprob": None}]})),
        sent({"error": None, **chunk("four", "stop")}),
    ],
)  # fmt: skip
def test_an_answer_is_read_from_whatever_shape_it_has(body: str) -> None:
    assembly = read(body)
    assert (assembly.text, assembly.finish.replace("unknown", "stop")) == ("four", "stop")


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "four"}],
        [{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "fo"}, {"text": "ur"}],
        ["four"],
    ],
)
def test_of_a_list_of_parts_the_texts_are_the_answer(content: Any) -> None:
    assembly = read(json.dumps(message(content)), streamed=False)
    assert assembly.text == "four"
    assert assembly.thought in {"hm", ""}


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("stop", "stop"), ("eos_token", "stop"), ("COMPLETE", "stop"), ("end_turn", "stop"), ("eosFound", "stop"),
        ("MAX_TOKENS", "length"), ("model_length", "length"), ("FinishReason.MAX_TOKENS", "length"),
        ("SAFETY", "filter"), ("sensitive", "filter"), ("guardrail_intervened", "filter"),
        ("tool_calls", "tool"), ("refusal", "refusal"),
    ],
)  # fmt: skip
def test_reasons_to_stop_have_many_names(finish: str, kind: str) -> None:
    assert read(sent(chunk("four", finish), "[DONE]")).finish == kind


BROKEN = ("error", "abort", "insufficient_system_resource", "network_error", "cancelled", "time_limit", "?")


@pytest.mark.parametrize(
    "body",
    [
        *(sent(chunk("fo", finish), "[DONE]") for finish in BROKEN),
        sent(chunk("fo")),
        sent(chunk("fo"), {"error": {"message": "boom"}}),
        sent(chunk("fo"), {"object": "error", "message": "boom"}),
        sent({"choices": [{"delta": {"content": ""}, "error": {"code": 502, "message": "lost"}}]}),
        sent({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}),
        sent({"type": "ping"}),
        sent({"choices": [], "usage": {"prompt_tokens": 3}}, "[DONE]"),
        json.dumps({"choices": None}),
        json.dumps(message("", None)),
        json.dumps({"success": False, "errors": [{"message": "unavailable"}]}),
        sent("<html>late</html>"),
        'data: {"choices": [{"delta": {"content": "fo',
        "",
    ],
)  # fmt: skip
def test_what_broke_off_is_no_answer(body: str) -> None:
    with pytest.raises(Trouble) as raised:
        read(body)
    assert raised.value.again
    assert not raised.value.for_good


def test_a_refusal_is_no_text() -> None:
    assembly = read(json.dumps(message(None, refusal="I will not.")), streamed=False)
    assert (assembly.text, assembly.finish) == ("", "refusal")


def test_what_the_model_thought_stands_beside_its_answer() -> None:
    body = sent({"choices": [{"delta": {"reasoning_content": "hm"}}]}, *TWO)
    assert (read(body).text, read(body).thought) == ("four", "hm")


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}, (10, None, 30, None)),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 25}},
            (10, None, 30, 25),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}},
            (100, 64, 5, None),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 90, "total_tokens": 15},
            (100, 90, 5, None),
        ),
    ],
    ids=["total", "thoughts beside", "cached within", "cached beside"],
)
def test_tokens_are_counted_in_each_way_of_servers(usage: dict[str, Any], counts: tuple[int | None, ...]) -> None:
    last = read(json.dumps(message("four") | {"usage": usage}), streamed=False).last
    assert (last.prompt_tokens, last.cached_tokens, last.answer_tokens, last.thought_tokens) == counts


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_end_as_the_specification_says(size: int) -> None:
    data = "\ufeffa\rb\r\nc\n\nd\r".encode()
    parts = [data[begin : begin + size] for begin in range(0, len(data), size)]
    assert list(filter(None, lines(parts))) == [b"a", b"b", b"c", b"d"]


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
Serve = Callable[[Iterator[bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that sends these parts to whoever connects, five a second; return its address."""
    servers = []

    def start(parts: Iterator[bytes]) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=_send, args=(server, parts), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/v1"

    yield start
    for server in servers:
        server.close()


def _send(server: socket.socket, parts: Iterator[bytes]) -> None:
    with suppress(OSError):  # the client has gone, as it should
        client, _ = server.accept()
        with client:
            for part in parts:
                client.sendall(part)
                time.sleep(0.2)


@pytest.mark.parametrize(
    "parts",
    [
        repeat(CONTINUE),
        chain([b"HTTP/1.1 200 OK\r\nX-Slow: "], repeat(b"x")),
        chain([BODY], repeat(b"1\r\n \r\n")),
        repeat(b"", 30),
    ],
    ids=["continue", "header", "body", "nothing"],
)
def test_an_answer_that_never_ends_is_given_up(parts: Iterator[bytes], serve: Serve) -> None:
    wire = Wire(apis.CATALOG.load("chat"), serve(parts), "", None, timeout=1)
    with pytest.raises(Trouble, match="no answer within 1"):
        wire.send({"model": "m"})


@pytest.mark.parametrize("before", range(256, 304, 3))
def test_no_part_of_the_key_is_shown_where_the_endpoints_words_are_cut(before: int, serve: Serve) -> None:
    key = "sk-0123456789abcdefghijklmnopqrstuv"
    body = b'{"error":"%b%b and more"}' % (b"." * before, key.encode())
    head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    with pytest.raises(Trouble) as caught:
        Wire(apis.CATALOG.load("chat"), serve(iter([head + body])), key, None, timeout=20).send({"model": "m"})
    assert key[:4] not in caught.value.reason
    assert "[key"[: max(300 - before, 0)] in caught.value.reason
