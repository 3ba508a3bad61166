"""Asking an endpoint, one that is as bad as endpoints are."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import (
    BudgetSpent,
    ConfigError,
    ContextTooLong,
    EngineFailure,
    EngineMisbehaved,
    EngineRaised,
    EngineTimeout,
)
from ci_eval.core.model.settings import BudgetConfig, EndpointConfig, PriceConfig, SamplingConfig
from ci_eval.core.tracing import Listener, Trace
from ci_eval.plugins.adapters.endpoints.client import Asking, Client, Mode, answers_path
from ci_eval.plugins.adapters.endpoints.messages import Prompt
from tests.adapters.endpoints.asking import ask_all
from tests.adapters.endpoints.faults import any_fault, good_answer
from tests.adapters.endpoints.scripted import Reply, events, fails, says, sends, serve, stalls, trickles, whole

PROMPT = Prompt(instruction="two and two?")
KEY = "sk-very-secret"

Make = Callable[..., Client]


@pytest.fixture
def waits() -> list[float]:
    """How long the client meant to wait, each time."""
    return []


@pytest.fixture
def client(tmp_path: Path, waits: list[float]) -> Make:
    def make(
        address: str,
        *,
        mode: Mode = "keep",
        timeout: float = 10.0,
        command: str = "1",
        listener: Listener | None = None,
        sleep: Callable[[float], None] = waits.append,
        **given: Any,
    ) -> Client:
        settings = EndpointConfig(endpoint=address, model="tiny", **given)
        asking = Asking(settings=settings, mode=mode, command=command)
        return Client(asking, tmp_path, timeout, sleep=sleep, listener=listener)

    return make


# ------------------------------------------------------------------------------------------------------ the store


def test_what_was_answered_is_not_asked_again(client: Make) -> None:
    with serve(says("four")) as endpoint:
        first = client(endpoint.address).ask(PROMPT)
        assert client(endpoint.address).ask(PROMPT) == first
    assert (first.text, first.finish, first.model, first.answer_tokens) == ("four", "stop", "tiny-1", 4)
    assert len(endpoint.asked) == 1


def test_who_listens_hears_questions_answers_and_failures_but_never_the_key(
    client: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    lines: list[str] = []
    with serve(fails(500), says("four")) as endpoint:
        heard = client(endpoint.address, listener=Trace(lines.append, full=True), key="THE_KEY")
        heard.ask(PROMPT)
        heard.ask(PROMPT)
    assert ["two and two?" in line for line in lines] == [True, False, True, False]
    assert '"error":' in lines[1]
    assert '"text":"four"' in lines[3]
    assert KEY not in "".join(lines)


def test_a_repeat_is_another_question_with_another_seed(client: Make) -> None:
    with serve(says("four")) as endpoint:
        asked = client(endpoint.address, sampling=SamplingConfig(seed=7))
        for repeat in (0, 1, 1):
            asked.ask(PROMPT, repeat)
    assert [body["seed"] for body in endpoint.asked] == [7, 8]


def test_offline_takes_what_is_there_and_says_what_to_do_where_nothing_is(client: Make) -> None:
    with serve(says("four")) as endpoint:
        client(endpoint.address).ask(PROMPT)
    offline = client(endpoint.address, mode="offline", key="NOT_SET")
    assert offline.ask(PROMPT).text == "four"
    with pytest.raises(EngineRaised, match="run once without --offline"):
        offline.ask(Prompt(instruction="three and three?"))


def test_record_asks_anew_what_is_there(client: Make) -> None:
    with serve(says("four"), says("five")) as endpoint:
        client(endpoint.address).ask(PROMPT)
        recording = client(endpoint.address, mode="record")
        assert [recording.ask(PROMPT).text for _ in range(2)] == ["five", "five"]
        assert client(endpoint.address, mode="offline").ask(PROMPT).text == "five"
    assert len(endpoint.asked) == 2


def test_the_times_of_an_answer_are_kept_with_it(client: Make) -> None:
    with serve(says("four")) as endpoint:
        first = client(endpoint.address).ask(PROMPT)
    assert first.first_token is not None
    assert 0 < first.first_token <= first.last_token == client(endpoint.address, mode="offline").ask(PROMPT).last_token


@pytest.mark.parametrize("chunked", [True, False])
def test_the_first_token_is_there_before_the_last(client: Make, chunked: bool) -> None:
    with serve(trickles(0.2, 0.3, chunked=chunked)) as endpoint:
        streamed = client(endpoint.address).ask(PROMPT)
    assert streamed.text == "four"
    assert streamed.first_token is not None
    assert 200 <= streamed.first_token <= streamed.last_token - 290


def test_an_answer_in_one_piece_has_no_first_token(client: Make) -> None:
    with serve(says("four")) as endpoint:
        whole_at_once = client(endpoint.address, stream=False).ask(PROMPT)
    assert (whole_at_once.first_token, whole_at_once.last_token > 0) == (None, True)


# --------------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [(lambda: "7", 7.0, 8.0), (lambda: formatdate(time.time() + 30, usegmt=True), 20.0, 31.0)],
    ids=["a number of seconds", "a date"],
)
def test_an_endpoint_that_wants_to_be_left_alone_is(
    client: Make, waits: list[float], header: Callable[[], str], low: float, high: float
) -> None:
    with serve(fails(429, Retry_After=header()), says("four")) as endpoint:
        assert client(endpoint.address).ask(PROMPT).text == "four"
    assert [low < wait < high for wait in waits] == [True]


def test_who_wants_to_be_left_alone_for_an_hour_is_given_up(client: Make, waits: list[float]) -> None:
    with serve(fails(429, Retry_After="3600")) as endpoint, pytest.raises(EngineRaised, match="429"):
        client(endpoint.address).ask(PROMPT)
    assert (len(endpoint.asked), waits) == (1, [])


def test_waits_get_longer(client: Make, waits: list[float]) -> None:
    with serve(fails(500)) as endpoint, pytest.raises(EngineRaised, match=r"500 \(6 attempts\)"):
        client(endpoint.address).ask(PROMPT)
    assert len(endpoint.asked) == 6
    assert [0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(w * 2 for w in waits)] == [True] * 5


CUT = events("four", finish=None, done=False)


@pytest.mark.parametrize(
    "bad",
    [
        fails(500),
        fails(503),
        fails(429),
        sends(CUT),
        sends(CUT, length=len(CUT) + 100),
        sends(b"<html>Bad gateway</html>"),
        sends(b'data: {"error": {"message": "boom"}}\n\n'),
        sends(b'data: {"choices": [{"delta": {"content": 5}}]}\n\n'),
        sends(b"data: [1, 2]\n\n"),
        sends(b'data: {"choices": [{"delta": "x"}]}\n\n'),
    ],
    ids=["500", "503", "429", "cut off", "cut short", "a page", "an error midway", "no text", "a list", "a word"],
)
def test_what_may_pass_is_asked_again(client: Make, bad: Reply) -> None:
    with serve(bad, says("four")) as endpoint:
        assert client(endpoint.address).ask(PROMPT).text == "four"
    assert len(endpoint.asked) == 2


def test_an_answer_in_one_piece_that_breaks_off_is_asked_again(client: Make) -> None:
    data = json.dumps(whole("four")).encode()
    with serve(sends(data[:40], length=len(data)), says("four")) as endpoint:
        assert client(endpoint.address, stream=False).ask(PROMPT).text == "four"


@pytest.mark.parametrize("stream", [True, False])
def test_a_question_that_the_server_cut_silently_is_no_answer_and_not_kept(client: Make, stream: bool) -> None:
    question = Prompt(instruction="total = total + price * count  # sum\n" * 1000)
    cut = sends(json.dumps(whole("four", prompt=2050)))
    with serve(cut, cut, sends(json.dumps(whole("four", prompt=12_000)))) as endpoint:
        for _ in range(2):
            with pytest.raises(ContextTooLong, match=r"2,050 tokens in a question of 37,000 characters"):
                client(endpoint.address, stream=stream).ask(question)
        assert client(endpoint.address, stream=stream).ask(question).text == "four"


def test_rows_of_one_sign_are_no_sign_of_a_cut(client: Make) -> None:
    with serve(sends(json.dumps(whole("four", prompt=900)))) as endpoint:
        asked = client(endpoint.address, stream=False)
        assert asked.ask(Prompt(instruction=("#" * 80 + "\n" + " " * 40 + "a\n") * 300)).text == "four"


LOADING = fails(503, "Loading model")


def test_a_model_that_is_being_loaded_is_waited_for_within_the_budget(client: Make, waits: list[float]) -> None:
    with serve(*[LOADING] * 30, says("four")) as endpoint:
        assert client(endpoint.address, retries=1).ask(PROMPT).text == "four"
    assert len(waits) == 30
    with serve(LOADING) as endpoint, pytest.raises(BudgetSpent, match="Loading model"):
        client(endpoint.address, command="2", budget=BudgetConfig(seconds=1)).ask(PROMPT)


def test_a_limit_lasts_as_long_as_the_endpoint_says_within_the_budget(client: Make, waits: list[float]) -> None:
    limit = fails(429, "Rate limit reached. Please try again in 5m0s.")
    with serve(*[limit] * 3, says("four")) as endpoint:
        assert client(endpoint.address, retries=1).ask(PROMPT).text == "four"
    assert [300 < wait < 301 for wait in waits] == [True] * 3


def test_fields_within_fields_are_merged(client: Make) -> None:
    with serve(sends(json.dumps({"response": "4", "done": True}))) as endpoint:
        client(endpoint.address, api="ollama", stream=False, extra={"options": {"num_ctx": 512}}).ask(PROMPT)
        client(endpoint.address, api="ollama", stream=False).ask(PROMPT)
    options = [each["options"] for each in endpoint.asked]
    assert [each["num_ctx"] for each in options] == [512, 4096]
    assert all(each["num_predict"] == 256 for each in options)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow(minutes=1))])
def test_of_all_faults_at_random_nothing_is_stored_and_no_answer_is_asked_for_twice(
    client: Make, waits: list[float], count: int
) -> None:
    chance, delivered = random.Random(47), Counter[str]()
    lock = threading.Lock()

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = body["messages"][0]["content"][:6]
        with lock:
            is_good = chance.random() < 0.4
            fault = any_fault(chance, f"answer {number}")
            delivered[number] += is_good
        (sends(good_answer(f"answer {number}")) if is_good else fault.reply)(handler, body)

    questions = [Prompt(instruction=f"{number:06d} " + "total = total + price\n" * 300) for number in range(count)]
    with serve(reply) as endpoint:
        # What gave up is asked again by the next run.
        runs = [list(ask_all(client(endpoint.address, retries=3, concurrency=8), questions)) for _ in range(4)]
        asked = len(endpoint.asked)
        stored = list(ask_all(client(endpoint.address, mode="offline"), questions))
        assert len(endpoint.asked) == asked
    found = runs[-1]
    answers = [each for each in found if not isinstance(each, EngineFailure)]
    assert len(answers) > 0.9 * count
    for number, (each, kept) in enumerate(zip(found, stored, strict=True)):
        assert isinstance(kept, EngineFailure) if isinstance(each, EngineFailure) else kept == each
        if isinstance(each, EngineFailure):
            assert delivered[f"{number:06d}"] == 0
            assert str(each)
        else:
            assert each.text == f"answer {number:06d}"
            assert delivered[f"{number:06d}"] == 1


def test_garbage_for_ever_is_misbehaviour(client: Make) -> None:
    with serve(sends(b"\xff\xfe")) as endpoint, pytest.raises(EngineMisbehaved, match="not JSON"):
        client(endpoint.address, stream=False).ask(PROMPT)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (fails(404, "the model `tiny` does not exist"), "does not exist"),
        (fails(400, "unknown field"), "unknown field"),
        (sends(b"", 307, Location="http://127.0.0.1:1/"), "redirect"),
    ],
    ids=["wrong model", "bad request", "redirect"],
)
def test_what_will_not_pass_is_asked_once(client: Make, bad: Reply, said: str) -> None:
    with serve(bad) as endpoint, pytest.raises(EngineRaised, match=said):
        client(endpoint.address).ask(PROMPT)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (fails(401, "who are you?"), "engine.key"),
        (fails(402, "Insufficient credits"), "no money left"),
    ],
    ids=["key", "money"],
)
def test_trouble_with_the_account_ends_the_asking_of_a_command(client: Make, bad: Reply, said: str) -> None:
    with serve(bad, says("four")) as endpoint:
        for _ in range(3):
            with pytest.raises(BudgetSpent, match=said):
                client(endpoint.address).ask(PROMPT)
        assert len(endpoint.asked) == 1
        assert client(endpoint.address, command="2").ask(PROMPT).text == "four"


@pytest.mark.parametrize(
    "bad",
    [
        fails(400, "Your credit balance is too low. Request 1234-abc."),
        fails(400, "API key expired. Please renew the API key."),
        fails(403, "Your organization has been disabled"),
        fails(403, "Проект отключён"),
        fails(429, "You exceeded your quota: insufficient_quota"),
    ],
    ids=["credit", "expired key", "organization", "Russian", "quota"],
)
def test_the_same_refusal_of_different_questions_is_of_the_account(client: Make, bad: Reply) -> None:
    with serve(says("four"), bad) as endpoint:
        asked = client(endpoint.address, retries=0)
        results = [next(ask_all(asked, [Prompt(instruction=f"question {n}")])) for n in "abcdefgh"]
    assert [type(result) for result in results[1:]] == [EngineRaised] * 2 + [BudgetSpent] * 5
    assert len(endpoint.asked) == 4


@pytest.mark.parametrize(
    "replies",
    [
        [fails(400, "bad value"), says("four")] * 4,
        [fails(400, f"bad value in {word}") for word in ("sum", "max", "min", "abs", "len", "ord", "chr", "all")],
        [sends(json.dumps({"error": {"code": "content_filter", "message": "filtered"}}), 400)] * 8,
        [fails(500, "boom")] * 8,
    ],
    ids=["answers between", "other words", "filter", "server"],
)
def test_refusals_of_single_questions_end_nothing(client: Make, replies: list[Reply]) -> None:
    with serve(*replies) as endpoint:
        asked = client(endpoint.address, retries=0, concurrency=1)
        list(ask_all(asked, [Prompt(instruction=word) for word in "abcdefgh"]))
    assert len(endpoint.asked) == 8


def test_a_refused_question_that_is_asked_again_counts_once(client: Make) -> None:
    with serve(fails(400, "bad value")) as endpoint:
        asked = client(endpoint.address)
        for repeat in range(5):
            with pytest.raises(EngineRaised):
                asked.ask(PROMPT, repeat)
    assert len(endpoint.asked) == 5


def test_a_cap_on_money_needs_both_prices() -> None:
    with pytest.raises(ConfigError, match=r"price\.output"):
        Asking.new(EndpointConfig(budget=BudgetConfig(money=1)))


def test_one_price_alone_is_refused() -> None:
    for price in (PriceConfig(input=1), PriceConfig(output=1)):
        with pytest.raises(ConfigError, match="too low costs"):
            Asking.new(EndpointConfig(price=price))


def test_a_key_that_the_endpoint_repeats_is_not_shown_in_part(client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-abcdefghijklmnopqrstuvwxyz")
    bad = fails(400, f"{'x' * 285} sk-abcdefghijklmnopqrstuvwxyz")
    with serve(bad) as endpoint, pytest.raises(EngineRaised) as raised:
        client(endpoint.address, key="A_KEY").ask(PROMPT)
    assert "sk-" not in str(raised.value)


def test_a_question_that_is_too_long_is_asked_once_for_ever(client: Make) -> None:
    with serve(fails(400, "exceed_context_size_error: 5000 tokens")) as endpoint:
        for _ in range(2):
            with pytest.raises(EngineRaised, match=r"too long .* lower engine\.window"):
                client(endpoint.address).ask(PROMPT)
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("stream", [True, False])
def test_a_slow_answer_is_a_timeout_and_not_asked_for_again(client: Make, stream: bool) -> None:
    with serve(stalls(1.5)) as endpoint, pytest.raises(EngineTimeout, match=r"0\.2 s"):
        client(endpoint.address, timeout=0.2, stream=stream).ask(PROMPT)
    assert len(endpoint.asked) == 1


def test_nobody_at_that_address_is_an_error_after_all_attempts(client: Make, waits: list[float]) -> None:
    with serve(says("")) as endpoint:
        pass
    with pytest.raises(EngineRaised, match=r"nothing listens at that address; is the server running\? \(6 attempts\)"):
        client(endpoint.address).ask(PROMPT)
    assert len(waits) == 5
    with pytest.raises(EngineRaised, match=r"no host has that name; check engine\.endpoint"):
        client("http://no-such-host.invalid/v1").ask(PROMPT)


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_why_the_model_stopped_is_kept(client: Make, finish: str) -> None:
    with serve(says("four", finish)) as endpoint:
        assert client(endpoint.address).ask(PROMPT).finish == finish


def test_an_empty_answer_is_an_answer(client: Make) -> None:
    with serve(says("")) as endpoint:
        assert client(endpoint.address).ask(PROMPT).text == ""


def test_half_a_character_is_replaced_and_two_halves_are_joined(client: Make) -> None:
    with serve(sends(events("\ud83d", "\ude00 \ud83d"))) as endpoint:
        assert client(endpoint.address).ask(PROMPT).text == "\U0001f600 \ufffd"


def test_each_failure_of_many_questions_stands_in_its_place(client: Make) -> None:
    with serve(fails(400), says("four")) as endpoint:
        asked = client(endpoint.address, concurrency=1)
        found = list(ask_all(asked, (Prompt(instruction=str(n)) for n in range(3))))
    assert [isinstance(each, EngineFailure) for each in found] == [True, False, False]


# ----------------------------------------------------------------------------------------------------------- keys


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    client: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    with serve(says(f"you said {KEY}"), fails(400, f"bad {KEY}")) as endpoint:
        asked = client(endpoint.address, key="THE_KEY")
        assert asked.ask(PROMPT).text == "you said [key]"
        with pytest.raises(EngineRaised, match=r"bad \[key\]") as raised:
            asked.ask(Prompt(instruction="again"))
        asked.close()
    assert KEY not in str(raised.value)
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_password_in_the_users_netrc_is_not_sent(
    client: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serve(says("four")) as endpoint:
        client(endpoint.address).ask(PROMPT)
    assert "Authorization" not in endpoint.headers[0]


def test_a_key_that_is_not_there_is_missed_without_telling_what_was_written(client: Make) -> None:
    with pytest.raises(ConfigError, match="not set") as raised:
        client("https://example.com/v1", key="ABCDEF0123456789")
    assert "ABCDEF" not in str(raised.value)


@pytest.mark.parametrize("key", ["two words", "one\ntwo", "schlüssel"])
def test_a_key_that_no_header_can_hold_is_refused_without_telling_it(
    client: Make, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", key)
    with pytest.raises(ConfigError, match="so it is not a key") as raised:
        client("https://example.com/v1", key="THE_KEY")
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    ["https://me:secret@host/v1", "https://host/v1?key=secret", "http://host.example/v1", "ftp://host/v1", "host/v1"],
)
def test_an_address_that_would_tell_a_secret_is_refused(
    client: Make, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    with pytest.raises(ConfigError) as raised:
        client(address, key="THE_KEY")
    assert "secret" not in str(raised.value)


# ---------------------------------------------------------------------------------------------- budgets and limits


@pytest.mark.parametrize(
    ("budget", "price", "answered"),
    [
        (BudgetConfig(requests=3), PriceConfig(), 3),
        (BudgetConfig(tokens=20), PriceConfig(), 2),
        (BudgetConfig(money=0.05), PriceConfig(input=1000, output=2500), 3),
    ],
    ids=["requests", "tokens", "money"],
)
def test_a_budget_ends_the_asking_of_all_clients_of_a_command(
    client: Make, budget: BudgetConfig, price: PriceConfig, answered: int
) -> None:
    with serve(says("four")) as endpoint:
        clients = [client(endpoint.address, budget=budget, price=price) for _ in range(2)]
        for n in range(answered):
            clients[n % 2].ask(Prompt(instruction=str(n)))
        with pytest.raises(BudgetSpent, match="larger budget"):
            clients[1].ask(PROMPT)
        assert clients[0].ask(Prompt(instruction="0")).text == "four"
        client(endpoint.address, budget=budget, price=price, command="2").ask(PROMPT)


def test_no_wait_goes_beyond_the_time_that_is_left(client: Make, waits: list[float]) -> None:
    with serve(fails(429, Retry_After="50")) as endpoint, pytest.raises(BudgetSpent, match="429"):
        client(endpoint.address, budget=BudgetConfig(seconds=20)).ask(PROMPT)
    assert waits == []


def test_a_budget_of_tokens_needs_an_endpoint_that_counts_them(client: Make) -> None:
    answer = json.dumps({key: value for key, value in whole("four").items() if key != "usage"})
    with serve(sends(answer)) as endpoint, pytest.raises(EngineMisbehaved, match="does not report its tokens"):
        client(endpoint.address, stream=False, budget=BudgetConfig(tokens=100)).ask(PROMPT)


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_questions_are_under_way_than_allowed(client: Make, most: int) -> None:
    with serve(stalls(0.05)) as endpoint:
        clients = {number: client(endpoint.address, concurrency=most) for number in range(2)}

        def ask(number: int) -> None:
            list(ask_all(clients[number], (Prompt(instruction=f"{number} {n}") for n in range(6))))

        with ThreadPoolExecutor() as threads:
            list(threads.map(ask, clients))
    assert endpoint.at_once <= most
    assert len(endpoint.asked) == 12


def test_who_waits_for_a_limit_holds_no_slot_meanwhile(client: Make) -> None:
    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        first = body["messages"][0]["content"] == "first"
        (fails(429, "Slow down.", Retry_After="60") if first and not waiting.is_set() else says("four"))(handler, body)

    waiting, answered = threading.Event(), threading.Event()

    def wait(_: float) -> None:
        waiting.set()
        # Without a slot, the other question would not be answered before this ends.
        assert answered.wait(30)

    with serve(reply) as endpoint, ThreadPoolExecutor() as threads:
        throttled = client(endpoint.address, concurrency=1, sleep=wait)
        asked = threads.submit(throttled.ask, Prompt(instruction="first"))
        assert waiting.wait(30)
        assert client(endpoint.address, concurrency=1).ask(Prompt(instruction="second")).text == "four"
        answered.set()
        assert asked.result().text == "four"
    assert endpoint.at_once == 1


def test_more_fields_are_sent_and_unwanted_ones_left_out(client: Make) -> None:
    with serve(says("four")) as endpoint:
        client(endpoint.address, extra={"max_completion_tokens": 9, "max_tokens": None}).ask(PROMPT)
    assert "max_tokens" not in endpoint.asked[0]
    assert endpoint.asked[0]["max_completion_tokens"] == 9


def test_the_store_holds_json_and_no_pickle(client: Make, tmp_path: Path) -> None:
    with serve(says("four")) as endpoint:
        client(endpoint.address).ask(PROMPT)
    with sqlite3.connect(answers_path(tmp_path)) as connection:
        request, reply = connection.execute("SELECT request, reply FROM answers").fetchone()
        mode = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    assert json.loads(request)["body"]["messages"][0]["content"] == "two and two?"
    assert (json.loads(reply)["text"], mode) == ("four", ("wal",))
