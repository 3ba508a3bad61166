"""What `ci-eval list` has a row for."""

from __future__ import annotations

import pytest

from ci_eval.jobs.listings import NAMES, rows


@pytest.mark.parametrize("what", sorted(NAMES))
def test_each_variant_has_a_row_under_its_own_name(what: str) -> None:
    found = rows(what)
    names = [row["name"] for row in found]
    assert len({str(name) for name in names}) == len(names) > 0
    assert {tuple(row) for row in found} == {tuple(found[0])}
    assert all(row.get("summary", "-") for row in found)
