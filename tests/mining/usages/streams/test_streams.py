"""What all formats of recorded editing have in common."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ci_eval.plugins.mining.usages import streams
from tests.mining.usages.streams.recorded import snapshots

FILES = {
    "kave": ("r.json", '{"$type":"CompletionEvent","Context2":{"SST":{"EnclosingType":"0T:N.C, P","Methods":'
    '[{"Name":"0M:[p:void] [N.C, P].M()","Body":[]}]}},"TriggeredAt":"2018-01-14T22:26:45.1+01:00"}'),
    "neutral": ("r.jsonl", '{"t":1,"file":"a.py","op":"edit","offset":0,"ins":"x\\n"}\n'),
}  # fmt: skip


def test_every_format_is_tested() -> None:
    assert set(FILES) == set(streams.names())


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), other=st.binary(max_size=12), kept=st.integers(0, 20))
def test_nothing_in_a_file_raises(name: str, tmp_path: Path, at: int, other: bytes, kept: int) -> None:
    file, text = FILES[name]
    data = text.encode()
    at %= len(data) + 1
    (tmp_path / file).write_bytes(data[:at] + other + data[at + kept :])
    found, skipped = snapshots(name, tmp_path)
    assert isinstance(found, list)
    assert all(count >= 0 for count in skipped.values())


@pytest.mark.parametrize("name", FILES)
def test_a_whole_file_gives_a_snapshot_or_says_why_not(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    (tmp_path / file).write_text(text)
    found, skipped = snapshots(name, tmp_path)
    assert bool(found) is not bool(skipped)


@pytest.mark.parametrize("name", FILES)
def test_an_archive_that_leads_outside_is_refused(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    with ZipFile(tmp_path / "r.zip", "w") as bundle:
        bundle.writestr(f"../{file}", text)
    found, skipped = snapshots(name, tmp_path / "r.zip")
    assert found == []
    assert any("leads outside" in reason for reason in skipped)
    assert [path.name for path in tmp_path.iterdir()] == ["r.zip"]
