"""What a run records of itself."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ci_eval.core.manifest import Manifest
from ci_eval.core.model import EngineInfo, ProjectInfo

MANIFEST = Manifest(
    ci_eval="0", title="", language="python", completion_type="BASIC", client="raw", strategy="ALL/NoPrefix", seed=0,
    engine=EngineInfo(name="words", version="1"), grammar="", python="", os="", jobs=1, planned=1,
    project=ProjectInfo(spec="path:.", name="p", revision="1", checksum="0"), start="2026-01-01T00:00:00+00:00",
)  # fmt: skip


def test_counts_and_times_that_contradict_each_other_are_refused() -> None:
    MANIFEST.check()
    with pytest.raises(ValueError, match="more sessions are evaluated than the 1"):
        replace(MANIFEST, finished=2).check()
    with pytest.raises(ValueError, match="has no time zone"):
        replace(MANIFEST, start="2026-01-01T00:00:00").check()
