"""Ours → theirs → ours."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core.actions import Source, actions_of_file
from ci_eval.core.config import Config
from ci_eval.core.equality import rank
from ci_eval.core.grammar.document import checksum
from ci_eval.core.model import (
    CallCompletion,
    DeleteRange,
    FileActions,
    Lookup,
    MoveCaret,
    PrefixConfig,
    PrintText,
    Properties,
    Session,
    SourceFile,
    Status,
    StrategyConfig,
    Suggestion,
)
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains.contract import Generation
from ci_eval.plugins.jetbrains.kept import Kept
from ci_eval.plugins.jetbrains.reading import Origin, ReadFile, find_actions_files, read
from ci_eval.plugins.jetbrains.writing import Writer
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks import completion

TEXT = 's = "😀"; import_os = 1\nprint(s, import_os)  # 😀\nfor x in s: print(x, "😀", import_os)\n'
FILE = SourceFile(path="pkg/ä.py", checksum=checksum(TEXT), text=TEXT)
SOURCE = Source(project="p", path=FILE.path, text=TEXT, language=LANGUAGE)
TOKENS = LANGUAGE.extract(TEXT, FILE.path, {}).tokens
WORDS = st.sampled_from(["s", "print", "import_os", "x", "other", "<T>", "a&b", "", "😀"])
STATUSES = st.sampled_from([Status.TIMEOUT, Status.ENGINE_CRASH, Status.SKIPPED, Status.ERROR])


@st.composite
def lookups(draw: st.DrawFn, expected: str, prefix: str) -> Lookup:
    shown = draw(st.lists(WORDS, max_size=6, unique=True))
    suggestions = tuple(Suggestion(text=each, kind=draw(st.sampled_from(["", "function"]))) for each in shown)
    behind = draw(st.sampled_from([None, 1500]))
    restored = rank(expected, prefix, suggestions) or behind
    return Lookup(
        prefix=prefix,
        total=2000 if behind else len(shown),
        rank=restored,
        latency=draw(st.floats(0, 100)),
        selected=draw(st.booleans()) and restored is not None,
        suggestions=suggestions,
    )


@st.composite
def played(draw: st.DrawFn) -> tuple[FileActions, list[Session]]:
    """The actions of the text, and some of its sessions, which end in any way."""
    strategy = StrategyConfig(
        context=draw(st.sampled_from(["ALL", "LEFT", "PREVIOUS"])),
        prefix=draw(
            st.sampled_from([PrefixConfig(), PrefixConfig(name="SimplePrefix", n=2), PrefixConfig(name="EveryPrefix")])
        ),
    )
    actions = actions_of_file(SOURCE, TOKENS, strategy, 0.0, completion.COMPLETION)
    calls: dict[str, list[str]] = {}
    known: dict[str, tuple[int, str, Properties]] = {}
    for each in actions.actions:
        if isinstance(each, CallCompletion):
            calls.setdefault(each.session, []).append(each.prefix)
            known[each.session] = each.offset, each.expected_text, each.properties
    restored = []
    for identity, (offset, expected, properties) in known.items():
        if draw(st.booleans()):
            asked = tuple(draw(lookups(expected, prefix)) for prefix in calls[identity])
            failed = draw(st.none() | STATUSES)
            last = asked[-1]
            went = Status.OK if last.rank else Status.NO_MATCH if last.total else Status.EMPTY
            restored.append(
                Session(
                    id=identity, file=FILE.path, offset=offset, expected_text=expected, properties=properties,
                    status=failed or went, message="why" if failed else "", typed=len(asked[0].prefix),
                    lookups=() if failed == Status.SKIPPED else asked,
                )
            )  # fmt: skip
    return actions, restored


def there_and_back(folder: Path, form: Generation, actions: FileActions, sessions: Sequence[Session]) -> ReadFile:
    writer = Writer(folder, form)
    writer.sessions(FILE, sessions)
    writer.actions(actions, TEXT)
    writer.close(form.config(Config(language="python"), "/p"))
    return back(folder, form)


def back(folder: Path, form: Generation) -> ReadFile:
    origin = Origin(folder=folder, generation=form, project="p", strategy="?", language="Python", with_user=False)
    (restored,) = read(origin, find_actions_files(folder), Kept(folder))
    return restored


@pytest.mark.parametrize("form", generations.CATALOG.all(), ids=lambda form: form.name)
@given(made=played())
@settings(max_examples=25)
def test_a_round_trip_keeps_every_session_with_its_rank_and_status(
    form: Generation, made: tuple[FileActions, list[Session]]
) -> None:
    actions, sessions = made
    with tempfile.TemporaryDirectory() as folder:
        restored = there_and_back(Path(folder), form, actions, sessions)
    assert restored.sessions == sessions
    assert restored.source == FILE
    assert restored.actions is not None
    assert {each.id for each in sessions if each.lookups} <= set(asked(restored.actions))
    assert played_to(restored.actions) == TEXT


def played_to(actions: FileActions) -> str:
    text, caret = TEXT, 0
    for each in actions.actions:
        if isinstance(each, DeleteRange):
            text, caret = text[: each.begin] + text[each.end :], each.begin
        elif isinstance(each, PrintText):
            text, caret = text[:caret] + each.text + text[caret:], caret + len(each.text)
        elif isinstance(each, MoveCaret):
            caret = each.offset
    return text


@pytest.mark.parametrize("form", generations.CATALOG.all(), ids=lambda form: form.name)
@given(made=played())
@settings(max_examples=25)
def test_what_the_plugin_rewrites_without_our_field_keeps_rank_and_status_that_it_has_a_place_for(
    form: Generation, made: tuple[FileActions, list[Session]]
) -> None:
    actions, sessions = made
    known = [
        replace(each, lookups=tuple(replace(one, total=len(one.suggestions)) for one in each.lookups))
        for each in sessions
        if each.status in {Status.OK, Status.NO_MATCH, Status.EMPTY}
        and all((one.rank or 0) <= len(one.suggestions) for one in each.lookups)
    ]
    known = [replace(each, status=ended(each)) for each in known]
    with tempfile.TemporaryDirectory() as folder:
        there_and_back(Path(folder), form, actions, known)
        for path in Path(folder).glob("data/files/*.gz"):
            whole = msgspec.json.decode(gzip.decompress(path.read_bytes()))
            for each in whole["sessions"]:
                del each["ciEval"]
            path.write_bytes(gzip.compress(msgspec.json.encode(whole)))
        restored = back(Path(folder), form)
    assert list(ends(restored.sessions)) == list(ends(known))


def ended(session: Session) -> Status:
    last = session.lookups[-1]
    return Status.OK if last.rank else Status.NO_MATCH if last.total else Status.EMPTY


def ends(sessions: Sequence[Session]) -> Iterator[tuple[object, ...]]:
    for each in sessions:
        yield each.offset, each.expected_text, each.status, [(one.prefix, one.rank) for one in each.lookups]


def test_the_id_of_an_imported_session_is_that_of_stage_1(tmp_path: Path) -> None:
    actions = actions_of_file(SOURCE, TOKENS, StrategyConfig(), 0.0, completion.COMPLETION)
    form = generations.CATALOG.load("ij21")
    there_and_back(tmp_path, form, actions, [])
    origin = Origin(
        folder=tmp_path, generation=form, project="p", strategy="ALL/NoPrefix", language="Python", with_user=False
    )
    (restored,) = read(origin, find_actions_files(tmp_path), Kept(tmp_path))
    assert restored.actions is not None
    assert asked(restored.actions) == asked(actions)


def asked(actions: FileActions) -> list[str]:
    return [each.session for each in actions.actions if isinstance(each, CallCompletion)]
