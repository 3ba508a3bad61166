"""Pairs of texts are graded line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.errors import ConfigError
from ci_eval.jobs.grade import grade_pairs


def test_a_line_in_is_a_line_out_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"reference": "a", "hypothesis": "a"}\n{"reference": "a", "hypothesis": "b", "language": "go"}\n')
    assert list(grade_pairs("exact", path)) == [b'{"scores":{"exact":1.0}}', b'{"scores":{"exact":0.0}}']


@pytest.mark.parametrize("line", ['{"reference": "a"}', "a\tb", "[]"])
def test_what_is_no_pair_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"reference": "a", "hypothesis": "a"}\n' + line)
    with pytest.raises(ConfigError, match=r'pairs\.jsonl, line 2: .*; a line is \{"reference"'):
        list(grade_pairs("exact", path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        list(grade_pairs("exact", tmp_path / "none"))
