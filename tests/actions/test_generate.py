"""Source files become actions, whatever they are; one that cannot be read is counted."""

from __future__ import annotations

import os
import pickle
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ci_eval.core.actions import Generated, SourceTree, make
from ci_eval.core.actions.files import declarations
from ci_eval.core.actions.generate import GeneratedFile, Texts, mark_first_uses
from ci_eval.core.base import stored
from ci_eval.core.catalogs import languages
from ci_eval.core.grammar.parsing import Repair
from ci_eval.core.model import (
    ActionsConfig,
    CallCompletion,
    FileError,
    FiltersConfig,
    Kind,
    Properties,
    StrategyConfig,
    Token,
)
from ci_eval.plugins.languages import python
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks import completion
from tests.projects import GREETER, generate, write


def test_only_tokens_that_pass_the_filters_get_sessions(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    filters = FiltersConfig(statement_types=(Kind.FIELD, Kind.METHOD_CALL), is_static=False)
    config = ActionsConfig(strategy=StrategyConfig(filters=filters))
    found = next(generate(root, tmp_path / "w", config).actions())
    calls = [action for action in found.actions if isinstance(action, CallCompletion)]
    assert [call.expected_text for call in calls] == ["name", "greet"]


@pytest.mark.slow
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
        (b"a = 1\n" * 900_000, "5,400,000 bytes are more than `actions.maxFileSize` (1,000,000)"),
        (b"x\n" + b"a;" * 60_000, "line 2 has 120,000 characters; the limit is 100,000"),
    ],
    ids=["not UTF-8", "NUL", "5 MB", "one line"],
)
def test_a_file_that_cannot_be_read_is_counted_and_the_rest_goes_on(tmp_path: Path, content: bytes, why: str) -> None:
    workspace = generate(write(tmp_path / "p", bad__py=content, good__py=GREETER), tmp_path / "w")
    assert [(error.path, error.message) for error in workspace.errors()] == [("bad.py", why)]
    assert [found.path for found in workspace.actions()] == ["good.py"]


def test_a_file_in_another_encoding_counts_whole_as_lost(tmp_path: Path) -> None:
    root = write(
        tmp_path / "p", bad__py=b"caf\xe9 = 1\n", good__py=b"cafe = 12\n", known__py=b"# coding: latin1\n\xe9\n"
    )
    sums: list[Generated] = []
    generate(root, tmp_path / "w", advance=lambda _done, _of, so_far: sums.append(so_far))
    assert sums[-1].worst() == {"bad.py": 1.0}
    assert (sums[-1].files, sums[-1].unparsable, sums[-1].size) == (2, 9, 9 + 10 + 19)


def test_a_rewriting_that_fails_is_said_of_a_file_that_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No replacement of the pattern: the match has no such group.
    failing = Repair(re.compile(rb"hello"), lambda match: match["none"], always=True)
    monkeypatch.setattr(python, "REPAIRS", (failing,))
    root = write(tmp_path / "p", a__py=GREETER + "hello()\n")
    found = make(
        SourceTree(
            root=root, name="p", language=LANGUAGE, config=ActionsConfig(), declared={}, task=completion.COMPLETION
        ),
        "a.py",
    )
    assert isinstance(found, GeneratedFile)
    assert (found.trouble, found.unparsable) == ("IndexError('no such group')", 0)
    assert found.sessions > 0


def test_a_file_with_more_actions_than_can_be_read_again_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "p", a__py=GREETER)
    project = SourceTree(
        root=root, name="p", language=LANGUAGE, config=ActionsConfig(), declared={}, task=completion.COMPLETION
    )
    monkeypatch.setattr(stored, "ACTIONS", 100)
    found = make(project, "a.py")
    assert isinstance(found, FileError)
    assert "but the limit is 100" in found.message
    assert "actions.maxFileSize" in found.message
    assert not found.trace


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


@pytest.mark.parametrize("name", languages.names())
def test_ten_megabytes_in_one_line_are_refused_by_length_and_not_by_time(name: str, tmp_path: Path) -> None:
    language = languages.CATALOG.load(name)
    path = f"a{next(suffix for suffix in (*language.suffixes, '.txt') if suffix)}"
    write(tmp_path, **{path: b"a?b:" * 2_500_000})
    config = ActionsConfig(max_file_size=10**8)
    declared = declarations(tmp_path, language, config)
    tree = SourceTree(
        root=tmp_path, name="x", language=language, config=config, declared=declared, task=completion.COMPLETION
    )
    made = make(tree, path)
    assert isinstance(made, FileError)
    assert made.message == "line 1 has 10,000,000 characters; the limit is 100,000"


def test_line_ends_and_byte_order_mark_do_not_change_the_actions(tmp_path: Path) -> None:
    unix, windows = GREETER.encode(), b"\xef\xbb\xbf" + GREETER.replace("\n", "\r\n").encode()
    one = generate(write(tmp_path / "p", a__py=unix), tmp_path / "w")
    two = generate(write(tmp_path / "q", a__py=windows), tmp_path / "v")
    assert list(one.actions()) == list(two.actions())


def test_deep_nesting_neither_hangs_nor_crashes(tmp_path: Path) -> None:
    workspace = generate(write(tmp_path / "p", a__py="x = " + "[" * 20_000 + "y" + "]" * 20_000), tmp_path / "w")
    assert len(list(workspace.actions())) == 1


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
        task=completion.COMPLETION,
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
    project = SourceTree(root=root, name="p", language=LANGUAGE, config=config, declared={}, task=completion.COMPLETION)
    found = make(project, "a.py")
    (tmp_path / "file").touch()
    assert make(replace(project, cache=tmp_path / "file"), "a.py") == found
    make(replace(project, cache=tmp_path / "c"), "a.py")
    for cached in (tmp_path / "c").iterdir():
        os.truncate(cached, 3)
    assert make(replace(project, cache=tmp_path / "c"), "a.py") == found


@pytest.mark.parametrize("name", ["pipe.py", "device.py", "link.py", "folder/secret.py", "../outside/secret.py"])
def test_what_took_the_place_of_a_file_is_not_read(name: str, trap: Path) -> None:
    failed = make(
        SourceTree(
            root=trap, name="p", language=LANGUAGE, config=ActionsConfig(), declared={}, task=completion.COMPLETION
        ),
        name,
    )
    assert isinstance(failed, FileError)
    assert "not a regular file of the project" in failed.message


PLAIN = Properties(kind=Kind.VARIABLE)


def new(text: str, *words: str) -> list[bool | None]:
    """For each place of the words, in order of the text."""
    places = sorted((begin, word) for word in words for begin in range(len(text)) if text.startswith(word, begin))
    tokens = [Token(offset=offset, text=word, properties=PLAIN) for offset, word in places]
    return [token.properties.first_use for token in mark_first_uses(text, tokens)]


def test_the_first_of_equal_words_is_new_and_the_others_are_not() -> None:
    assert new("a = b + a\n", "a", "b") == [True, True, False]


def test_a_word_of_a_comment_counts_and_a_part_of_a_word_does_not() -> None:
    assert new("# name\nname", "name") == [True, False]
    assert new("rename name", "name") == [True, True]
    assert new("name rename name", "name") == [True, False, False]
    assert new("été té", "té", "été") == [True, True, True]


def test_what_is_no_word_is_looked_for_as_it_is() -> None:
    assert new("empty? empty?", "empty?") == [True, False]


def test_open_is_what_no_other_file_has_and_new_the_first_of_it() -> None:
    texts = Texts()
    texts.add({"a": 3, "b": 2})
    texts.add({"b": 1, "c": 4})
    found = texts.summed()
    assert found
    assert (found.tokens, found.texts) == (10, 3)
    assert [found.open, found.new] == pytest.approx([0.7, 0.2])


def test_nothing_has_no_vocabulary() -> None:
    assert Texts().summed() is None


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1), min_size=1))
def test_it_is_what_counting_again_gives(files: list[list[str]]) -> None:
    texts = Texts()
    for each in files:
        texts.add(Counter(each))
    found = texts.summed()
    assert found
    alone = [
        text for i, one in enumerate(files) for text in one if not any(text in x for x in files[:i] + files[i + 1 :])
    ]
    assert found.open == pytest.approx(len(alone) / sum(map(len, files)))
    assert found.new == pytest.approx(len(set(alone)) / sum(map(len, files)))


@pytest.mark.parametrize("name", ["Greeter", "\ud800"], ids=["a name", "what is not UTF-8"])
def test_a_worker_gets_the_declared_names(name: str) -> None:
    declared = {"p.a": frozenset({name, "é"}), "p.b": frozenset[str]()}
    tree = SourceTree(
        root=Path("p"),
        name="p",
        language=LANGUAGE,
        config=ActionsConfig(),
        declared=declared,
        task=completion.COMPLETION,
    )
    assert pickle.loads(pickle.dumps(tree)) == tree
