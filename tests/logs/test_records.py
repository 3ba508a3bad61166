"""The account of a folder of logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.records import check, digest, read_logs_record, verify
from ci_eval.core.model import LogCounts, LogFile, LogsRecord
from tests.projects import write

NONE = LogCounts(files=0, sessions=0, selected=0, queries=0, rows=0, expected=0, kinds={})
RECORD = LogsRecord(
    schema="s", formats=("jsonl",), split_by="file", seed=0, percent=70, train=NONE, validation=NONE, files=()
)


def test_a_file_that_changed_or_is_gone_is_named(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/train__jsonl": "x"})
    record = replace(RECORD, files=(digest(tmp_path / "sub" / "train.jsonl", tmp_path),))
    verify(tmp_path, record)
    for change in (lambda path: path.write_text("y"), Path.unlink):
        change(tmp_path / "sub" / "train.jsonl")
        with pytest.raises(WorkspaceError, match=r"train\.jsonl is not what was logged: fetch the logs again"):
            verify(tmp_path, record)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd"])
def test_an_account_that_names_files_elsewhere_is_damaged(tmp_path: Path, path: str) -> None:
    with pytest.raises(WorkspaceError, match="the account of its logs is damaged"):
        check(replace(RECORD, files=(LogFile(path=path, size=1, sha256="0" * 64),)), tmp_path)


def test_a_folder_without_an_account_has_none_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert read_logs_record(tmp_path) is None
    write(tmp_path, manifest__json="[]")
    with pytest.raises(WorkspaceError, match="is no account of logs"):
        read_logs_record(tmp_path)
