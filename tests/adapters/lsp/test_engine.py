"""The client against servers that each do one thing wrong, or in their own way."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineCrash, EngineFailure, EngineMisbehaved, EngineRaised, EngineTimeout
from ci_eval.core.contracts import Query, Surroundings
from ci_eval.core.model import Session, Span
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters.lsp.engine import RunningLsp, _visible_root
from ci_eval.plugins.adapters.place import Place
from tests.adapters.lsp.conftest import TEXT, Start, ask
from tests.command import command
from tests.projects import GREETER, write


@pytest.mark.parametrize("way", ["", "full", "utf-8", "utf-16", "floods", "huge", "incomplete"])
def test_a_server_that_does_it_in_its_own_way_knows_the_text_at_each_question(start: Start, way: str) -> None:
    server = start(way)
    server.open("a.py", TEXT)
    server.edit([(10, 1, ""), (9, 1, "four five"), (0, 3, "")])
    assert set(ask(server)) - {"huge"} == {"two", "𐐀four", "fivethree"}


def test_a_long_list_is_read_whole(start: Start) -> None:
    words = [f"word{number:03}" for number in range(500)]
    server = start("")
    server.open("a.py", " ".join(words))
    assert set(ask(server)) == set(words)


def test_a_server_that_takes_too_long_is_a_timeout(start: Start) -> None:
    server = start("silent", timeout=0.3)
    server.open("a.py", TEXT)
    with pytest.raises(EngineTimeout, match="did not answer textDocument/completion in time") as caught:
        ask(server)
    assert caught.value.restart


def test_a_slow_answer_is_an_answer_and_its_time_is_measured(start: Start) -> None:
    server = start("slow")
    server.open("a.py", TEXT)
    assert server.complete(Query(offset=0, prefix="", expected="")).latency > 400


def test_a_server_that_dies_at_the_start_says_its_last_words(start: Start) -> None:
    with pytest.raises(EngineCrash, match=r"(?s)exit code 1.*no licence"):
        start("dies-at-start").open("a.py", TEXT)


def test_a_server_that_dies_is_restarted_and_answers_again(start: Start) -> None:
    server = start("dies-once", confine="off")
    server.open("a.py", TEXT)
    with pytest.raises(EngineCrash, match=r"(?s)SIGKILL.*out of luck"):
        ask(server)
    server.restart()
    server.open("a.py", TEXT)
    assert "three" in ask(server)


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("garbage", EngineMisbehaved),
        ("no-json", EngineMisbehaved),
        ("partial", EngineTimeout),
        ("nonsense", EngineRaised),
        ("error", EngineRaised),
        ("dies", EngineCrash),
    ],
)
def test_what_is_no_answer_is_a_failure_of_its_kind(start: Start, way: str, error: type[EngineFailure]) -> None:
    server = start(way, timeout=1.0)
    server.open("a.py", TEXT)
    with pytest.raises(error):
        ask(server)


@pytest.mark.parametrize("way", ["ahead", "wrong-id"])
def test_an_answer_to_a_request_that_was_not_sent_is_misbehaviour(start: Start, way: str) -> None:
    server = start(way)
    server.open("a.py", TEXT)
    with suppress(EngineMisbehaved):
        ask(server)
    # `ahead` sends its answers to later requests behind the first one.
    with pytest.raises(EngineMisbehaved, match="which was never sent"):
        ask(server)


def test_no_server_can_foresee_the_id_of_a_request(start: Start) -> None:
    server = start("")
    server.open("a.py", TEXT)
    assert ask(server)
    ids = sorted(map(int, server._running._sent))
    assert all(0 <= identifier < 2**31 for identifier in ids)
    assert min(after - before for before, after in pairwise(ids)) > 1


def test_a_null_answer_is_an_empty_list(start: Start) -> None:
    server = start("null")
    server.open("a.py", TEXT)
    server._cold_until = 0.0
    assert ask(server) == []


def test_a_server_that_has_nothing_yet_is_asked_again(start: Start) -> None:
    server = start("cold")
    server.open("a.py", TEXT)
    assert "one" in ask(server)


@pytest.mark.parametrize(
    ("edits", "offset", "prefix", "last"),
    [
        ([(3, 4, "")], 3, "", "e"),
        ([(4, 3, "")], 4, "", "_"),
        ([(4, 0, "tw")], 6, "tw", "tw"),
        # What also deletes is no typing, so the character is removed and typed again.
        ([(4, 3, "tw")], 6, "tw", "w"),
        ([], 5, "t", "t"),
        ([(0, 3, "")], 0, "", ""),
    ],
)
def test_the_character_before_the_caret_is_typed_last(
    start: Start, edits: list[tuple[int, int, str]], offset: int, prefix: str, last: str
) -> None:
    server = start("typed")
    server.open("a.py", "one two\n")
    server._cold_until = 0.0
    server.edit(edits)
    assert ask(server, offset, prefix) == ([f"typed{last}"] if last else [])


def test_an_item_that_cannot_be_read_is_counted(start: Start) -> None:
    server = start("odd")
    server.open("a.py", TEXT)
    answer = server.complete(Query(offset=0, prefix="", expected=""))
    assert ([found.text for found in answer.suggestions], answer.dropped) == (["one"], 1)


def test_a_complete_list_is_kept_while_the_token_is_typed_on(start: Start) -> None:
    for way, expected in (("", []), ("incomplete", ["o"])):
        server = start(way)
        server.open("a.py", "one \n")
        ask(server, 4)
        server.edit([(4, 0, "o")])
        assert [word for word in ask(server, 5, "o", continues=True) if word == "o"] == expected


def test_a_server_that_takes_too_much_memory_is_ended(start: Start) -> None:
    server = start(memory=1_000_000)

    def use() -> None:
        server.open("a.py", TEXT)
        while True:
            ask(server)

    with pytest.raises(EngineCrash, match=r"interpret\.memoryLimit allows"):
        use()


def seen(root: Path, environment: Path | None, language: str = "typescript") -> Path:
    """The folder that a server of that language sees."""
    around = Surroundings(
        root=root, language=language, keywords=frozenset(), cache=root, timeout=1, memory=0, environment=environment
    )
    return _visible_root(Place.new(root, around))


def test_servers_see_installed_packages_and_those_of_the_workspace(tmp_path: Path) -> None:
    members = {"app/package__json": '{"name": "app"}', "core/package__json": '{"name": "@me/core"}'}
    root = write(tmp_path / "p", package__json='{"workspaces": ["app", "core"]}', **members)
    needs = write(tmp_path / "e", **{"node_modules/@me/x/a__ts": "", "app/node_modules/y/b__ts": "", "core/c__ts": ""})
    (needs / "node_modules" / "@me" / "core").symlink_to("../../core")
    copy = seen(root, needs)
    assert (copy / "node_modules/@me/core").resolve() == (copy / "core").resolve()
    assert (copy / "node_modules/@me/x/a.ts").is_file()
    assert (copy / "app/node_modules/y/b.ts").is_file()
    assert not list(root.rglob("node_modules")), "the project stays as it was"
    assert seen(root, needs, "python") == root
    assert seen(root / "core", None) == root / "core"


def test_no_link_is_written_through_one_of_the_project(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside")
    outside.mkdir(exist_ok=True)
    root = write(tmp_path / "p", package__json="{}")
    (root / "node_modules").symlink_to(outside)
    needs = write(tmp_path / "e", **{"node_modules/x/a__ts": "", "node_modules/@me/y/a__ts": ""})
    assert seen(root, needs) != root
    assert not list(outside.iterdir())


# --- inline completion, as the protocol's version 3.18 has it

GREY = "one\n𐐀é  four\n"


def ask_inline(server: RunningLsp, span: Span = "line", prefix: str = "") -> list[str]:
    """At the end of the second line's first word and two blanks."""
    server.open("a.py", GREY.replace("four", prefix))
    query = Query(offset=8 + len(prefix), prefix=prefix, expected="", span=span)
    return [found.text for found in server.complete(query).suggestions]


@pytest.mark.parametrize("way", ["inline", "inline-range"])
@pytest.mark.parametrize(
    ("span", "found"), [("line", "five six"), ("statement", "five six"), ("text", "five six\nseven")]
)
def test_grey_text_is_cut_to_what_is_asked_for(start: Start, way: str, span: Span, found: str) -> None:
    assert ask_inline(start(way), span) == [found]


@pytest.mark.parametrize("way", ["inline", "inline-range"])
def test_what_is_typed_of_it_belongs_to_it(start: Start, way: str) -> None:
    assert ask_inline(start(way), prefix="𐐀x") == ["𐐀xfive six"]


@pytest.mark.parametrize("way", ["inline-none", "inline-other"])
def test_no_text_and_one_that_changes_what_is_there_are_no_suggestions(start: Start, way: str) -> None:
    assert ask_inline(start(way)) == []


@pytest.mark.parametrize(
    ("way", "said"), [("inline-stranger", "NotSignedIn"), ("inline-nonsense", "an unreadable answer")]
)
def test_a_refusal_and_nonsense_are_failures(start: Start, way: str, said: str) -> None:
    with pytest.raises(EngineRaised, match=said):
        ask_inline(start(way))


@pytest.mark.parametrize(("way", "span"), [("inline", "word"), ("", "line")])
def test_a_word_and_a_server_without_grey_text_go_the_usual_way(start: Start, way: str, span: Span) -> None:
    assert "one" in ask_inline(start(way), span)


@pytest.mark.registry
@pytest.mark.needs("node", "npm")
def test_a_real_server_that_nobody_is_signed_in_to_says_so_in_each_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fetch = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "copilot-node-server@1.41.0"]
    subprocess.run(fetch, check=True)
    write(tmp_path / "p", main__py=GREETER)
    server = ["node", "node_modules/copilot-node-server/copilot/dist/language-server.js", "--stdio"]
    given = ("--project", "path:p", "--task", "inline", "--jobs", 1, "--output", "out")
    assert command("evaluate", *given, "--set", f"engine={json.dumps({'command': server})}")[0] == 5
    stored = [session for _, found in Workspace.open(tmp_path / "out").sessions(Session) for session in found]
    assert stored
    assert {each.status for each in stored} == {"error"}
    assert all("NotSignedIn" in each.message for each in stored)
