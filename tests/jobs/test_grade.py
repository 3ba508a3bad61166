"""Pairs of texts are graded line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.evaluate import grade_pairs, grade_workspace
from tests.command import command
from tests.projects import GREETER, sessions, write


def test_a_line_in_is_a_line_out_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"reference": "a", "hypothesis": "a"}\n{"reference": "a", "hypothesis": "b", "language": "go"}\n')
    assert list(grade_pairs("exact", path)) == [b'{"scores":{"exact":1.0}}', b'{"scores":{"exact":0.0}}']


# From Python 3.14 on, what fits on the stack is read, which is more than 100,000 levels.
DEEP = '{"reference": "a", "hypothesis": "a", "more": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}"


@pytest.mark.parametrize("line", ['{"reference": "a"}', "a\tb", "[]", pytest.param(DEEP, id="deep")])
def test_what_is_no_pair_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"reference": "a", "hypothesis": "a"}\n' + line)
    with pytest.raises(ConfigError, match=r'pairs\.jsonl, line 2: .*; a line is \{"reference"'):
        list(grade_pairs("exact", path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        list(grade_pairs("exact", tmp_path / "none"))


def test_grading_that_was_interrupted_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write(tmp_path / "p", a__py=GREETER, b__py=GREETER.replace("name", "label"))
    asked = ("evaluate", "--task", "tokens", "--engine", "ngram", "--project", f"path:{project}")
    assert command(*asked, "--output", tmp_path / "out")[0] == 0
    folder = tmp_path / "out"
    before = sessions(Workspace(folder))
    store = Workspace.write_sessions

    def once(self: Workspace, path: str, packed: bytes) -> None:
        store(self, path, packed)
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Workspace, "write_sessions", once)
        with pytest.raises(KeyboardInterrupt):
            grade_workspace(folder)
    with pytest.raises(WorkspaceError, match="was not finished"):
        Workspace(folder).verify()
    grade_workspace(folder)
    Workspace(folder).verify()
    assert sessions(Workspace(folder)) == before


def test_a_byte_order_mark_is_no_part_of_the_first_pair(tmp_path: Path) -> None:
    (path := tmp_path / "pairs.jsonl").write_text('\ufeff{"reference": "a", "hypothesis": "a"}\n')
    assert [*grade_pairs("exact", path)] == [b'{"scores":{"exact":1.0}}']


PLAIN = ["bleu", "bleu-mera", "chrf", "chrf-mera", "exact", "inline", "subtoken-f1", "subtoken-lcs", "well-formed"]


@pytest.mark.parametrize("grader", [*PLAIN, pytest.param("codebleu-strict", marks=pytest.mark.registry),
                                    pytest.param("codebleu-mera", marks=pytest.mark.registry)])  # fmt: skip
def test_pairs_of_next_to_nothing_have_scores(tmp_path: Path, grader: str) -> None:
    texts = ["", " ", "\n", "_", "__", "$", "a", "я", "1", "{"]
    pairs = [{"reference": one, "hypothesis": other, "language": "python"} for one in texts for other in texts]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    scores = [json.loads(line)["scores"] for line in grade_pairs(grader, path)]
    assert len(scores) == len(pairs)
    assert all(0 <= value <= 100 for each in scores for value in each.values())
    assert len({tuple(each) for each in scores}) == 1
