"""Logs as lines of JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from ci_eval.plugins.log_formats.jsonl import FORMAT
from tests.logs.sessions import ORIGIN, logged


def part(path: Path) -> Path:
    written = FORMAT.write(path, ORIGIN)
    written.add(logged(selected=True))
    assert not path.exists()
    written.close()
    return path


def test_a_line_is_a_query_with_all_that_was_shown(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress(part(tmp_path / "a").read_bytes()).splitlines()]
    assert [(line["query_number"], line["prefix"], line["outcome"]) for line in lines] == [
        (0, "", "typed"),
        (1, "n", "selected"),
    ]
    assert [(each["text"], each["selected"]) for each in lines[1]["suggestions"]] == [("other", False), ("name", True)]


def test_joined_parts_are_one_file_and_nothing_is_an_empty_one(tmp_path: Path) -> None:
    FORMAT.join([part(tmp_path / "a"), part(tmp_path / "b")], tmp_path / "all")
    FORMAT.join([], tmp_path / "none")
    assert len(gzip.decompress((tmp_path / "all").read_bytes()).splitlines()) == 4
    empty = (tmp_path / "none").read_bytes()
    assert (gzip.decompress(empty), len(empty) > 0) == (b"", True)
