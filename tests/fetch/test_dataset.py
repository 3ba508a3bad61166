"""Datasets: files of records, from this machine or pinned by a digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ChecksumError, ConfigError
from ci_eval.fetch import dataset
from tests.loopback import sends, serve

RECORDS = b'{"id": 1}\n\n{"id": 2}\n'


def written(folder: Path, data: bytes) -> dataset.Dataset:
    path = folder / "d.jsonl"
    path.write_bytes(data)
    return dataset.prepare(str(path), cache=folder)


def test_a_file_is_named_and_known_by_its_content(tmp_path: Path) -> None:
    info = written(tmp_path, RECORDS).info
    assert (info.name, info.checksum) == ("d", hashlib.sha256(RECORDS).hexdigest())


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path: Path) -> None:
    assert list(written(tmp_path, b"\xef\xbb\xbf" + RECORDS).lines()) == [(1, {"id": 1}), (3, {"id": 2})]


def test_blank_lines_are_none_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    assert list(written(tmp_path, RECORDS).lines()) == [(1, {"id": 1}), (3, {"id": 2})]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b'{"a": "\xff"}', "not a JSON object"),
        (b'{"a": "\\ud800"}', "not a JSON object"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": "' + b"x" * dataset.LONGEST + b'"}', "longer than"),
    ],
    ids=["cut", "list", "bytes", "surrogate", "deep", "long"],
)
def test_a_line_that_is_no_object_says_why_and_the_next_is_read(tmp_path: Path, line: bytes, why: str) -> None:
    (_, broken), after = written(tmp_path, line + b'\n{"id": 2}\n').lines()
    assert isinstance(broken, str)
    assert why in broken
    assert after == (2, {"id": 2})


def test_an_address_is_downloaded_once_and_pinned(tmp_path: Path) -> None:
    digest = hashlib.sha256(RECORDS).hexdigest()
    with serve(sends(RECORDS)) as server:
        spec = f"{server.url()}#sha256={digest}"
        for _ in range(2):
            assert len(list(dataset.prepare(spec, cache=tmp_path).lines())) == 2


def test_other_content_than_the_pinned_is_refused(tmp_path: Path) -> None:
    with serve(sends(RECORDS)) as server, pytest.raises(ChecksumError):
        dataset.prepare(f"{server.url()}#sha256={'0' * 64}", cache=tmp_path)


@pytest.mark.parametrize("spec", ["no.jsonl", ".", "https://h/d.jsonl"])
def test_what_is_no_dataset_says_what_to_give(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigError, match=r"https://HOST/FILE#sha256=HEX|append #sha256="):
        dataset.prepare(spec, cache=tmp_path)


def test_files_are_laid_out_once(tmp_path: Path) -> None:
    first = dataset.lay_out({"a/b.txt": "ü\n"}, cache=tmp_path)
    assert (first / "a" / "b.txt").read_text() == "ü\n"
    assert dataset.lay_out({"a/b.txt": "ü\n"}, cache=tmp_path) == first
    assert dataset.lay_out({"a/b.txt": "u\n"}, cache=tmp_path) != first


def test_a_damaged_folder_is_laid_out_anew(tmp_path: Path) -> None:
    (dataset.lay_out({"a.txt": "whole"}, cache=tmp_path) / "a.txt").write_text("half")
    with pytest.warns(UserWarning, match="damaged"):
        assert (dataset.lay_out({"a.txt": "whole"}, cache=tmp_path) / "a.txt").read_text() == "whole"
