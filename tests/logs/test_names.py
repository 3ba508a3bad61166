"""Names of a project, and what follows them, counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ci_eval.core.logs.features import SCHEMA
from ci_eval.core.logs.names import NameCounts, count, hash_token
from tests.learning.code import FILE, OTHERS


def test_names_are_counted_over_all_files_but_one(tmp_path: Path) -> None:
    whole = count([FILE, *OTHERS])
    whole.save(tmp_path / "names.npz")
    others = NameCounts.load(tmp_path / "names.npz").without(FILE)
    hashes = np.array(
        [hash_token("load"), hash_token("user_id"), hash_token("os"), hash_token("nobody")], dtype=np.uint64
    )
    assert others.of(hashes, hash_token("\n")).tolist() == [[4, 2, 2], [1, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_what_follows_tokens_is_counted_over_all_files_but_one() -> None:
    levels = list(count([FILE, *OTHERS]).without(FILE).levels(["user_name", "user_id", "os"], ["load", "("]))
    assert [(counts.tolist(), total) for counts, total in levels] == [
        ([3, 1, 0], 10),  # def load user_name return load user_id load user_name load user_name
        ([3, 1, 0], 4),  # (
        ([3, 1, 0], 4),  # load (
    ]


def test_a_hash_and_the_schema_are_the_same_everywhere() -> None:
    """Logs and models of another machine are told apart by them."""
    assert hash_token("name") == 0xDA6E932A8493C057
    assert SCHEMA == "6de3e862cd04fc41"
