"""None"""

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

from ci_eval.core.actions import Source
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.config import Config
from ci_eval.core.grammar.document import checksum
from ci_eval.core.model import (
    Action,
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
from ci_eval.core.scoring import rank
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains.generation import Generation
from ci_eval.plugins.jetbrains.workspace import (
    Kept,
    Origin,
    ReadFile,
    Writer,
    convert_actions,
    find_actions_files,
    read_files,
    to_points,
    to_units,
)
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks import completion
from tests.actions.views import actions_of_file

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
    (restored,) = read_files(origin, find_actions_files(folder), Kept(folder))
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
    (restored,) = read_files(origin, find_actions_files(tmp_path), Kept(tmp_path))
    assert restored.actions is not None
    assert asked(restored.actions) == asked(actions)


def asked(actions: FileActions) -> list[str]:
    return [each.session for each in actions.actions if isinstance(each, CallCompletion)]


@given(text=st.text())
def test_each_offset_goes_there_and_back(text: str) -> None:
    for offset in range(len(text) + 1):
        units = to_units(text, offset)
        assert units == len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
        assert to_points(text, units) == offset


def test_an_offset_behind_the_end_is_none() -> None:
    with pytest.raises(ValueError, match="after the end"):
        to_points("a😀", 4)


def test_offsets_of_actions_are_those_of_the_text_at_the_time() -> None:
    begun: list[Action] = [MoveCaret(offset=0), PrintText(text="😀")]
    actions = [*begun, MoveCaret(offset=4), DeleteRange(begin=0, end=2)]
    found = convert_actions("ab", actions, to_points, ours=False)
    assert found == [*begun, MoveCaret(offset=3), DeleteRange(begin=0, end=1)]
    assert convert_actions("ab", found, to_units, ours=True) == actions


def test_actions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(WorkspaceError, match="do not fit the text"):
        convert_actions("😀", [MoveCaret(offset=9)], to_points, ours=False)
