"""What a run records of itself."""

from __future__ import annotations

from ci_eval.core.manifest import Manifest
from ci_eval.core.model import EngineInfo, ProjectInfo


def test_a_manifest_of_before_names_its_task() -> None:
    project = ProjectInfo(spec="path:.", name="p", revision="1", checksum="0")
    manifest = Manifest(
        ci_eval="0", title="", language="python", completion_type="BASIC", client="raw", strategy="ALL/golf", seed=0,
        engine=EngineInfo(name="words", version="1"), project=project, grammar="", python="", os="", cpu="a", jobs=1,
        start="2026-01-01T00:00:00+00:00", unit="lines",
    )  # fmt: skip
    assert manifest.task == "golf"
    assert (manifest.processor, manifest.cpu) == ("a", None)
