"""comparison.json as scripts read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.comparing import compare


def test_comparison_json_has_the_documented_keys_and_differences_are_new_minus_base(
    nights: dict[str, Path], tmp_path: Path
) -> None:
    _, report, _ = compare(nights["words"], nights["oracle"], tmp_path / "c", "--gate", "Recall >= 1%")
    assert {"format", "base", "new", "paired", "population", "onlyBase", "onlyNew", "filters", "gates"} <= set(report)
    assert report["format"] == 1
    assert [set(gate) for gate in report["gates"]] == [{"rule", "passed", "reason", "result", "needed"}]
    for found in report["filters"]["ALL"]["metrics"].values():
        assert {"base", "new", "difference", "low", "high", "p", "verdict", "population", "elsewhere"} <= set(found)
        if found["difference"] is not None:
            assert found["difference"] == pytest.approx(found["new"] - found["base"])
