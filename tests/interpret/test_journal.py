"""The sessions that a worker had finished when it died."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.interpret.journal import Journal, read_journal


def test_the_line_in_which_a_worker_was_killed_does_not_count_and_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"id":"1"}\n{"id":"2')
    assert list(read_journal(path)) == [b'{"id":"1"}\n']
    journal = Journal(path)
    journal.add(b'{"id":"3"}\n')
    assert list(read_journal(path)) == [b'{"id":"1"}\n', b'{"id":"3"}\n']
    journal.close()


def test_nothing_is_finished_of_a_file_that_was_not_begun(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path / "none")) == []
