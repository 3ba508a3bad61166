"""Stage 1."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.errors import ConfigError
from ci_eval.grammar.document import checksum
from ci_eval.languages.python import LANGUAGE
from ci_eval.model import (
    ActionsConfig,
    CallCompletion,
    DeleteRange,
    FileActions,
    FileError,
    FiltersConfig,
    FinishSession,
    Kind,
    MoveCaret,
    OpenFile,
    PrefixConfig,
    PrintText,
    StrategyConfig,
    Token,
)
from ci_eval.stages.actions import Source, SourceTree, actions_of_file, make, prefix_of, source_files, spelled
from tests.projects import GREETER, generate, write
from tests.replaying import STRATEGIES, replay, task_of


def actions_of(text: str, strategy: StrategyConfig | None = None, path: str = "a.py") -> FileActions:
    extraction = LANGUAGE.extract(text, path, {})
    source = Source(project="demo", path=path, text=text, language=LANGUAGE)
    strategy = strategy or StrategyConfig()
    return actions_of_file(source, extraction.tokens, strategy, extraction.unparsable, task_of(strategy))


def name_of(strategy: StrategyConfig) -> str:
    return spelled(strategy, 0, task_of(strategy))


def test_a_session_deletes_the_token_asks_and_puts_it_back() -> None:
    found = actions_of("os")
    call = found.actions[3]
    assert isinstance(call, CallCompletion)
    assert found.actions == (
        OpenFile(path="a.py", checksum=checksum("os")),
        DeleteRange(begin=0, end=2),
        MoveCaret(offset=0),
        CallCompletion(session=call.session, offset=0, prefix="", expected_text="os", properties=call.properties),
        FinishSession(),
        PrintText(text="os"),
    )


def test_emulated_typing_asks_after_each_character() -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True))
    calls = [action for action in actions_of("name", strategy).actions if isinstance(action, CallCompletion)]
    assert [call.prefix for call in calls] == ["", "n", "na"]
    assert len({call.session for call in calls}) == 1


@pytest.mark.parametrize(
    ("prefix", "typed"),
    [
        (PrefixConfig(), ""),
        (PrefixConfig(name="SimplePrefix", n=3), "get"),
        (PrefixConfig(name="SimplePrefix", n=99), "getElementById"),
        (PrefixConfig(name="CapitalizePrefix"), "gEBI"),
    ],
)
def test_the_prefix_is_what_the_strategy_says(prefix: PrefixConfig, typed: str) -> None:
    assert prefix_of("getElementById", prefix) == typed


@pytest.mark.parametrize("strategy", STRATEGIES, ids=name_of)
def test_the_text_is_whole_again_after_all_actions(strategy: StrategyConfig) -> None:
    assert replay(GREETER, actions_of(GREETER, strategy)) == GREETER


@given(
    text=st.text(alphabet=st.sampled_from("abé\U0001d4b3 \n.:=()[]'\"#,\tdef if"), max_size=200),
    strategy=st.sampled_from(STRATEGIES),
)
def test_the_text_is_whole_again_whatever_it_is(text: str, strategy: StrategyConfig) -> None:
    assert replay(text, actions_of(text, strategy)) == text


@given(text=st.text(max_size=300))
def test_every_token_stands_where_it_says(text: str) -> None:
    for token in LANGUAGE.extract(text, "a.py", {}).tokens:
        assert text[token.offset : token.offset + len(token.text)] == token.text


def test_the_id_of_a_session_is_stable() -> None:
    call = actions_of("os").actions[3]
    assert isinstance(call, CallCompletion)
    assert call.session == "0dc6a81d79320ec8"


@pytest.mark.parametrize(
    "other", [actions_of("os "), actions_of("os", path="b.py"), actions_of("os", STRATEGIES[1]), actions_of("so")]
)
def test_another_text_path_or_strategy_gives_another_id(other: FileActions) -> None:
    def ids(found: FileActions) -> set[str]:
        return {action.session for action in found.actions if isinstance(action, CallCompletion)}

    assert not ids(actions_of("os")) & ids(other)


def test_only_tokens_that_pass_the_filters_get_sessions(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    filters = FiltersConfig(statement_types=(Kind.FIELD, Kind.METHOD_CALL), is_static=False)
    config = ActionsConfig(strategy=StrategyConfig(filters=filters))
    found = next(generate(root, tmp_path / "w", config).actions())
    calls = [action for action in found.actions if isinstance(action, CallCompletion)]
    assert [call.expected_text for call in calls] == ["name", "greet"]


def test_jedi_decides_what_the_text_leaves_open(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="import b\nb.make().lower()\n", b__py="def make() -> str: ...\n")
    config = ActionsConfig(
        evaluation_roots=("a.py",), strategy=StrategyConfig(filters=FiltersConfig(package_regex="builtins"))
    )
    found = next(generate(root, tmp_path / "w", config).actions())
    calls = [action for action in found.actions if isinstance(action, CallCompletion)]
    assert [(call.expected_text, call.properties.is_static) for call in calls] == [("lower", False)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"caf\xe9 = 1\n", "not UTF-8: byte 0xe9 at offset 3"),
        (b"a = 1\0\n", "not a text file: NUL byte at offset 5"),
        (b"a = 1\n" * 900_000, "5,400,000 bytes are more than actions.maxFileSize (1,000,000)"),
    ],
    ids=["not UTF-8", "NUL", "5 MB"],
)
def test_a_file_that_cannot_be_read_is_counted_and_the_rest_goes_on(tmp_path: Path, content: bytes, why: str) -> None:
    workspace = generate(write(tmp_path / "p", bad__py=content, good__py=GREETER), tmp_path / "w")
    assert [(error.path, error.message) for error in workspace.errors()] == [("bad.py", why)]
    assert [found.path for found in workspace.actions()] == ["good.py"]


def test_a_file_whose_name_is_not_text_is_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    root = write(tmp_path / "p", good__py=GREETER)
    (root / os.fsdecode(b"caf\xe9.py")).write_text(GREETER)
    workspace = generate(root, tmp_path / "w")
    assert [(each.path, each.message) for each in workspace.errors()] == [
        ("caf\\udce9.py", "the file's name is not UTF-8")
    ]
    assert [found.path for found in workspace.actions()] == ["good.py"]


@pytest.mark.slow
def test_five_megabytes_are_read_where_they_are_allowed(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=b"value = os.path.join('a', b)  # comment\n" * 130_000)
    workspace = generate(root, tmp_path / "w", ActionsConfig(max_file_size=10_000_000))
    assert next(workspace.actions()).sessions == 130_000 * 5 - 1


def test_line_ends_and_byte_order_mark_do_not_change_the_actions(tmp_path: Path) -> None:
    unix, windows = GREETER.encode(), b"\xef\xbb\xbf" + GREETER.replace("\n", "\r\n").encode()
    one = generate(write(tmp_path / "p", a__py=unix), tmp_path / "w")
    two = generate(write(tmp_path / "q", a__py=windows), tmp_path / "v")
    assert list(one.actions()) == list(two.actions())


def test_deep_nesting_neither_hangs_nor_crashes(tmp_path: Path) -> None:
    workspace = generate(write(tmp_path / "p", a__py="x = " + "[" * 20_000 + "y" + "]" * 20_000), tmp_path / "w")
    assert len(list(workspace.actions())) == 1


def test_only_source_files_of_the_project_are_found(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="", b__txt="", **{".hidden/c__py": "", "node_modules/d__py": "", "e/f__pyi": ""})
    (root / "link.py").symlink_to("/etc/passwd")
    assert list(source_files(root, LANGUAGE, ActionsConfig(ignore_file_names=("a.py",)))) == ["e/f.pyi"]


@pytest.mark.parametrize("given", ["missing", "../p2", "/"])
def test_an_evaluation_root_must_be_in_the_project(tmp_path: Path, given: str) -> None:
    (tmp_path / "p2").mkdir()
    root = write(tmp_path / "p", a__py="")
    with pytest.raises(ConfigError, match="not in the project"):
        list(source_files(root, LANGUAGE, ActionsConfig(evaluation_roots=(given,))))


def test_an_empty_project_has_no_actions(tmp_path: Path) -> None:
    assert list(generate(write(tmp_path / "p", a__txt=""), tmp_path / "w").actions()) == []


def test_what_jedi_decided_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="x.lower()\n")
    strategy = StrategyConfig(filters=FiltersConfig(is_static=False))
    project = SourceTree(
        root=root,
        name="p",
        language=LANGUAGE,
        config=ActionsConfig(strategy=strategy),
        declared={},
        cache=tmp_path / "c",
    )
    first = make(project, "a.py")
    forgetful = replace(project, language=replace(LANGUAGE, resolve=_never))
    assert make(forgetful, "a.py") == first
    write(root, a__py="y.lower()\n")
    changed = make(forgetful, "a.py")
    assert isinstance(changed, FileError)
    assert "asked again" in changed.message


def _never(root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]:
    raise AssertionError("asked again")


def test_what_jedi_decided_need_not_be_kept_nor_be_readable(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="x.lower()\n")
    config = ActionsConfig(strategy=StrategyConfig(filters=FiltersConfig(is_static=False)))
    project = SourceTree(root=root, name="p", language=LANGUAGE, config=config, declared={})
    found = make(project, "a.py")
    (tmp_path / "file").touch()
    assert make(replace(project, cache=tmp_path / "file"), "a.py") == found
    make(replace(project, cache=tmp_path / "c"), "a.py")
    for stored in (tmp_path / "c").iterdir():
        os.truncate(stored, 3)
    assert make(replace(project, cache=tmp_path / "c"), "a.py") == found


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A project with files that never end, or are not its own."""
    write(tmp_path / "outside", secret__py="password = 1\n")
    root = write(tmp_path / "p", a__py="os\n")
    os.mkfifo(root / "pipe.py")
    (root / "device.py").symlink_to("/dev/zero")
    (root / "link.py").symlink_to("../outside/secret.py")
    (root / "folder").symlink_to("../outside")
    return root


def test_only_the_regular_files_of_a_project_are_read(trap: Path, tmp_path: Path) -> None:
    assert list(source_files(trap, LANGUAGE, ActionsConfig())) == ["a.py"]
    assert [actions.path for actions in generate(trap, tmp_path / "w").actions()] == ["a.py"]


@pytest.mark.parametrize("name", ["pipe.py", "device.py", "link.py", "folder/secret.py", "../outside/secret.py"])
def test_what_took_the_place_of_a_file_is_not_read(name: str, trap: Path) -> None:
    failed = make(SourceTree(root=trap, name="p", language=LANGUAGE, config=ActionsConfig(), declared={}), name)
    assert isinstance(failed, FileError)
    assert "no regular file of the project" in failed.message
