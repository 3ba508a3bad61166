"""`ci-eval dataset`: from projects to a file of records."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import command

LICENCE = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"


def project(root: Path, licence: str = LICENCE) -> Path:
    root.mkdir()
    (root / "LICENSE").write_text(licence)
    (root / "box.py").write_text("def take(items):\n    return items\n")
    (root / "test_box.py").write_text("def test_take():\n    assert take(1)\n\n\ndef test_other():\n    assert 1\n")
    (root / "latin.py").write_bytes(b"# \xe9\n")
    return root


def made(output: Path, *arguments: object) -> tuple[int, str, str]:
    return command("dataset", "unit-tests", *arguments, "--language", "python", "--output", output, "--jobs", 1)


def test_records_are_written_and_what_became_of_every_test_is_told(tmp_path: Path) -> None:
    code, told, warned = made(tmp_path / "t.jsonl", f"path:{project(tmp_path / 'box')}")
    assert code == 0
    (line,) = map(json.loads, (tmp_path / "t.jsonl").read_text().splitlines())
    assert (line["cluster"], line["language"], line["meta"]["licence"]) == ("box", "python", "MIT")
    assert line["references"] == ["def test_take():\n    assert take(1)"]
    counts = dict(row.rsplit(maxsplit=1) for row in told.splitlines() if len(row.split()) > 1)
    assert (counts["files"], counts["not read"], counts["tests"]) == ("3", "1", "2")
    assert (counts["- paired"], counts["- no function"]) == ("1", "1")
    assert "latin.py: not UTF-8" in warned
    assert told.splitlines()[-1] == str(tmp_path / "t.jsonl")


def test_the_same_projects_give_the_same_bytes(tmp_path: Path) -> None:
    spec = f"path:{project(tmp_path / 'box')}"
    made(tmp_path / "a.jsonl", spec)
    made(tmp_path / "b.jsonl", spec)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_a_project_that_does_not_let_its_code_be_passed_on_is_left_out(tmp_path: Path) -> None:
    spec = f"path:{project(tmp_path / 'box', 'GNU GENERAL PUBLIC LICENSE')}"
    code, _, warned = made(tmp_path / "t.jsonl", spec)
    assert code == 3
    assert "its licence is GPL" in " ".join(warned.split())
    assert made(tmp_path / "t.jsonl", spec, "--any-licence")[0] == 0
