"""A real server: llama.cpp's own, with a model whose answers are known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import EngineRaised, InstallError
from ci_eval.core.contracts import Query
from ci_eval.core.model import Session
from ci_eval.core.model.settings import EndpointConfig, SamplingConfig, WindowConfig
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.engine import make_endpoint_engine, measure_usage
from ci_eval.plugins.adapters.endpoints.messages import OtherFile, Prompt
from ci_eval.plugins.responses.answers import Inserted
from tests.adapters.endpoints.llama import SIZE, SMOOTH, continued, llama, logprob_of, python, served
from tests.command import command
from tests.projects import write

__all__ = ["llama", "python"]

pytestmark = [pytest.mark.registry]

CONTINUES = "<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}"
"""A template that ends with the text before the caret, which is all that the tiny model looks at."""


def settings(address: str, **given: Any) -> EndpointConfig:
    return EndpointConfig(endpoint=address, model="tiny", **given)


def client(tmp_path: Path, given: EndpointConfig, timeout: float = 20.0) -> Client:
    return Client(Asking(settings=given, mode="keep"), tmp_path, timeout)


@pytest.mark.parametrize("stream", [True, False])
def test_completions_are_what_the_model_must_write(llama: str, tmp_path: Path, stream: bool) -> None:
    given = settings(f"{llama}/v1", api="completions", template=CONTINUES, stream=stream)
    reply = client(tmp_path, given).ask(Prompt(prefix="x = 1\npri", suffix="\ny = 2", max_tokens=6))
    assert (reply.text, reply.finish) == (continued("pri", 6), "length") == ("nt(wav", "length")
    assert (reply.prompt_tokens, reply.answer_tokens) == (len("x = 1\npri\ny = 2") + 2, 6)
    assert (reply.first_token is not None) == stream


def test_a_stop_ends_an_answer(llama: str, tmp_path: Path) -> None:
    given = settings(f"{llama}/v1", api="completions", template=CONTINUES, sampling=SamplingConfig(stop=("a",)))
    reply = client(tmp_path, given).ask(Prompt(prefix="print", max_tokens=20))
    assert (reply.text, reply.finish) == ("(w", "stop")


@pytest.mark.parametrize("stream", [True, False])
def test_infill_begins_where_a_middle_begins(llama: str, tmp_path: Path, stream: bool) -> None:
    reply = client(tmp_path, settings(llama, api="infill", stream=stream)).ask(Prompt(prefix="a", max_tokens=5))
    assert (reply.text, reply.finish, reply.answer_tokens) == ("print", "length", 5)


@pytest.mark.parametrize("stream", [True, False])
def test_a_chat_is_answered(llama: str, tmp_path: Path, stream: bool) -> None:
    reply = client(tmp_path, settings(f"{llama}/v1", stream=stream)).ask(Prompt(instruction="hello", max_tokens=7))
    assert reply.finish in {"length", "stop"}
    assert reply.answer_tokens is not None
    assert reply.prompt_tokens is not None


def test_the_same_question_has_the_same_answer(llama: str, tmp_path: Path) -> None:
    given = settings(f"{llama}/v1", api="completions", template="qwen")
    asked = client(tmp_path, given)
    assert len({asked.ask(Prompt(prefix="print(", max_tokens=9), repeat).text for repeat in range(5)}) == 1


def test_more_than_the_model_can_see_is_told(llama: str, tmp_path: Path) -> None:
    given = settings(f"{llama}/v1", api="completions", template=CONTINUES)
    with pytest.raises(EngineRaised, match=r"too long .*exceed_context_size"):
        client(tmp_path, given).ask(Prompt(prefix="a" * 5000, max_tokens=5))


def test_a_suffix_that_this_server_ignores_is_not_trusted(llama: str, tmp_path: Path) -> None:
    ignoring = make_endpoint_engine(settings(f"{llama}/v1", api="completions", template="suffix"), None, holes=True)
    with pytest.raises(InstallError, match=r"ignores the text after the caret: .* 26 tokens .* 26 with"):
        ignoring.install(None, tmp_path)
    heeding = make_endpoint_engine(settings(llama, api="infill", window=FITTING), None, holes=True)
    assert heeding.install(None, tmp_path).info.name == "tiny"


FITTING = WindowConfig(characters=900, other_files=0.2)
"""What a batch of 1,024 tokens has room for, where each byte is a token."""


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (WindowConfig(characters=3000), r"leaves out part of a full .* sees 1,0\d\d of about 3,000 tokens"),
        (WindowConfig(characters=4900, other_files=0.9), "leaves out part"),
    ],
    ids=["window", "other files"],
)
def test_a_window_that_this_server_cuts_without_a_word_is_refused(
    llama: str, tmp_path: Path, window: WindowConfig, said: str
) -> None:
    with pytest.raises(InstallError, match=said):
        make_endpoint_engine(settings(llama, api="infill", window=window), None, holes=True).install(None, tmp_path)


def test_other_files_stand_before_the_hole(llama: str, tmp_path: Path) -> None:
    files = (OtherFile(path="b.py", text="x = 1\n"),)
    hole = Prompt(prefix="pri", suffix=")", max_tokens=3, path="a.py", files=files)
    alone = Prompt(prefix="pri", suffix=")", max_tokens=3)
    infill = client(tmp_path, settings(llama, api="infill"))
    grown = infill.ask(hole).prompt_tokens or 0, infill.ask(alone).prompt_tokens or 0
    # llama.cpp's own marks: a token, the file's name, a line end.
    assert grown[0] - grown[1] == len("#b.py\nx = 1\n")
    qwen = client(tmp_path, settings(f"{llama}/v1", api="completions", template="qwen"))
    grown = qwen.ask(hole).prompt_tokens or 0, qwen.ask(alone).prompt_tokens or 0
    assert grown[0] - grown[1] == len("#project\n#b.py\nx = 1\n\n#a.py\n")


def test_other_files_are_the_same_offline_and_elsewhere(
    llama: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "here"))
    window = {"tokens": 300, "charactersPerToken": 1.0, "suffix": 0.2, "otherFiles": 0.4}
    path = config(tmp_path, llama, api="infill", endpoint=llama, template=None, window=window, logprobs=True)
    write(tmp_path / "p", main__py="import wide\nwave = 1\n" + "print(wave)\n" * 40, wide__py="wave = 2\n" * 40)
    given = ("--task", "inline", "--jobs", "2", "--set", "actions.evaluationRoots=[main.py]")
    assert command("evaluate", path, *given, "--output", tmp_path / "asked")[0] == 0
    assert command("answers", "export", tmp_path / "answers.jsonl")[0] == 0
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "there"))
    assert command("answers", "import", tmp_path / "answers.jsonl")[0] == 0
    assert command("evaluate", path, *given, "--offline", "--output", tmp_path / "replayed")[0] == 0
    assert sessions(tmp_path / "asked") == sessions(tmp_path / "replayed")
    stored = [session for _, found in Workspace.open(tmp_path / "asked").sessions(Session) for session in found]
    middle = stored[len(stored) // 2].lookups[0].usage
    assert middle
    assert middle.left_out
    # Each byte is a token: the window, its marks, and those of the other file.
    assert 270 <= (middle.prompt_tokens or 0) <= 300 + len("#myproject\n#filename\n###wide.py\n##")
    bodies = [json.loads(line)["request"]["body"] for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    extra = [body["input_extra"] for body in bodies if "input_extra" in body]
    assert {"filename": "wide.py", "text": "wave = 2\n" * 13} in [each for files in extra for each in files]


READ = "ab ab ab ac ax "
"""Read by a model, in it `b` follows `a` in three of five cases."""


@pytest.fixture(scope="module")
def unsure(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose model is not always sure."""
    with served(python, tmp_path_factory.mktemp("unsure"), READ) as address:
        yield address


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", ["completions", "infill", "chat"])
def test_log_probabilities_are_those_of_the_closed_form(unsure: str, tmp_path: Path, api: str, stream: bool) -> None:
    base = unsure if api == "infill" else f"{unsure}/v1"
    template = CONTINUES if api == "completions" else None
    given = settings(base, api=api, template=template, logprobs=True, stream=stream)
    reply = client(tmp_path, given).ask(Prompt(prefix="a", max_tokens=7))
    # Where a middle begins, the model knows one letter alone; a chat's last letter is a line end, which it never read.
    first = {"completions": logprob_of("a", "b", READ), "infill": math.log((1 + SMOOTH) / (1 + SIZE * SMOOTH))}
    expected = [first.get(api, -math.log(SIZE))]
    expected += [logprob_of(before, letter, READ) for before, letter in pairwise(reply.text)]
    assert [octets for octets, _ in reply.logprobs] == [1] * 7
    assert [value for _, value in reply.logprobs] == pytest.approx(expected, abs=2e-5)
    assert api == "chat" or len(set(expected)) >= 3
    asked = Query(offset=1, prefix="", expected="", span="text")
    usage = measure_usage(reply, "a", asked, None, Inserted(begin=0, end=len(reply.text)))
    assert usage.logprob == pytest.approx(sum(expected) / 7, abs=2e-5)


def test_log_probabilities_are_the_same_each_time(unsure: str, tmp_path: Path) -> None:
    asked = client(tmp_path, settings(f"{unsure}/v1", api="completions", template=CONTINUES, logprobs=True))
    assert len({asked.ask(Prompt(prefix="a", max_tokens=20), repeat).logprobs for repeat in range(5)}) == 1


def test_how_sure_the_model_was_is_reported_beside_whether_it_was_right(
    unsure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    path = config(tmp_path, unsure, logprobs=True, sampling={"stop": [" "]})
    write(tmp_path / "p", main__py="def f(ab, ac):\n    return\n\n\nf(ab\n)\nf(ab\n)\nf(ac\n)\n")
    out = tmp_path / "out"
    typed = ("--set", "actions.strategy.prefix={name: SimplePrefix, n: 1}")
    assert command("evaluate", path, "--jobs", "1", "--output", out, *typed)[0] == 0
    stored = [session for _, found in Workspace.open(out).sessions(Session) for session in found]
    known = [
        (session.expected_text, lookup.rank == 1, lookup.usage.logprob)
        for session in stored
        for lookup in session.lookups
        if lookup.usage and lookup.usage.logprob is not None
    ]
    assert {(text, right) for text, right, _ in known} >= {("ab", True), ("ac", False)}
    assert {round(value, 3) for _, right, value in known if right} == {round(logprob_of("a", "b", READ), 3)}
    pairs = [(one > other) + (one == other) / 2 for _, a, one in known if a for _, b, other in known if not b]
    figures = json.loads((out / "reports" / "metrics.json").read_text())["evaluations"][0]["filters"]["ALL"]["metrics"]
    assert figures["ConfidenceAUC"]["value"] == pytest.approx(sum(pairs) / len(pairs))
    assert figures["MeanLogProbability"]["value"] == pytest.approx(sum(value for _, _, value in known) / len(known))


CODE = "def wave():\n    print(wave)\n    print(wave, wave)\n"


def config(folder: Path, address: str, **more: Any) -> Path:
    engine = {"endpoint": f"{address}/v1", "model": "tiny", "api": "completions", "template": CONTINUES, **more}
    write(folder / "p", main__py=CODE)
    path = folder / "config.json"
    path.write_text(json.dumps({"engine": engine, "project": f"path:{folder / 'p'}"}))
    return path


def sessions(workspace: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((workspace / "sessions").iterdir())]


def test_an_endpoint_is_an_engine_of_completion_and_its_run_is_replayed_offline(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    with served(python, tmp_path) as address:
        path = config(tmp_path, address)
        assert command("evaluate", path, "--jobs", "2", "--output", tmp_path / "asked")[0] == 0
    assert command("evaluate", path, "--jobs", "1", "--offline", "--output", tmp_path / "replayed")[0] == 0
    assert sessions(tmp_path / "asked") == sessions(tmp_path / "replayed")
    workspace = Workspace.open(tmp_path / "asked")
    found = {
        session.offset: [each.text for each in session.lookups[0].suggestions]
        for _, stored in workspace.sessions(Session)
        for session in stored
    }
    opening = [at + 1 for at, letter in enumerate(CODE) if letter == "(" and CODE[at + 1] == "w"]
    assert [found[at] for at in opening] == [["wave"], ["wave"]]
    assert workspace.manifest().engine.name == "tiny"


def test_lines_are_completed_in_one_piece(llama: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))
    path = config(tmp_path, llama)
    write(tmp_path / "p", main__py="wave = 1\n" + "print(wave)\n" * 6)
    assert command("evaluate", path, "--task", "inline", "--jobs", "1", "--output", tmp_path / "out")[0] == 0
    stored = [session for _, found in Workspace.open(tmp_path / "out").sessions(Session) for session in found]
    rests = [session for session in stored if session.expected_text == "wave)"]
    assert rests
    assert [(each.status, each.lookups[0].suggestions[0].text) for each in rests] == [("ok", "wave)")] * len(rests)
    assert {each.lookups[0].usage and each.lookups[0].usage.finish for each in rests} == {"stop"}


def test_answers_are_carried_to_a_machine_that_asks_nobody(
    llama: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "here"))
    path = config(tmp_path, llama)
    assert command("evaluate", path, "--jobs", "1", "--output", tmp_path / "asked")[0] == 0
    assert command("answers", "export", tmp_path / "answers.jsonl")[0] == 0
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "there"))
    code, _, said = command("evaluate", path, "--jobs", "1", "--offline", "--output", tmp_path / "missed")
    assert (code, "run once without --offline" in " ".join(said.split())) == (4, True)
    assert command("answers", "import", tmp_path / "answers.jsonl")[0] == 0
    assert command("evaluate", path, "--jobs", "1", "--offline", "--output", tmp_path / "replayed")[0] == 0
    assert sessions(tmp_path / "asked") == sessions(tmp_path / "replayed")
