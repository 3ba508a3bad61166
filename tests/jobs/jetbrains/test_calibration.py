"""The thesis's procedure: settings are tried until synthetic logs train as good a ranker as real ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import command
from tests.jobs.jetbrains.test_event_logs import PLANTED
from tests.logged import lines
from tests.needs import need_modules
from tests.projects import write
from tests.typists import recorded

need_modules("lightgbm", "pyarrow")

# Logs are made, and rankers trained, several times.
pytestmark = pytest.mark.slow

USER = {
    "profile": "thesis",
    "firstPrefix": PLANTED.first_prefix,
    "select": PLANTED.select,
    "cancel": PLANTED.cancel,
    "attend": 1.0,
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that synthetic logs are made of."""
    return write(tmp_path_factory.mktemp("code") / "p", **{f"file{i:02}__py": lines(i) for i in range(14)})


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of other code, by somebody with the planted tables."""
    folder = tmp_path_factory.mktemp("real")
    write(folder / "p", **{f"other{i:02}__py": lines(i) for i in range(20, 50)})
    ended, _, err = command(
        "generate-ml-logs", "--project", f"path:{folder / 'p'}", "--engine", "words", "--output", folder / "logs",
        "--set", f"interpret.userModel={json.dumps(USER)}", "--jobs", 2,
    )  # fmt: skip
    assert ended == 0, err
    return folder / "logs"


def calibrated(real: object, code: Path, output: Path, *more: object) -> tuple[int, str, str]:
    ended, out, err = command(
        "logs", "calibrate", real, "--project", f"path:{code}", "--engine", "words", "--output", output, "--jobs", 2,
        *more,
    )  # fmt: skip
    return ended, out, " ".join(err.split())


def found_in(output: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output / "calibration.json").read_text())
    return found


@pytest.fixture(scope="module")
def whole(real: Path, code: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All settings tried."""
    output = tmp_path_factory.mktemp("whole") / "o"
    ended, _, err = calibrated(real, code, output, "--all", "--threshold", 1)
    assert ended == 0, err
    return output


def test_the_planted_user_is_found_in_the_first_group(whole: Path) -> None:
    """Tolerances are three standard errors of the shares, at the 1,000 sessions there are, rounded up."""
    attempts = {each["name"]: each for each in found_in(whole)["attempts"]}
    user = yaml.safe_load(attempts["all tokens, user fitted to the first group"]["overrides"][1].partition("=")[2])
    assert user["firstPrefix"][:3] == pytest.approx(PLANTED.first_prefix, abs=0.05)
    assert user["cancel"][:2] == pytest.approx(PLANTED.cancel[:2], abs=0.07)
    # Lists of who gives up later are not counted, so taking is found too often.
    assert user["select"][0][0] == pytest.approx(PLANTED.select[0][0], abs=0.1)
    assert user["select"][1][0] == pytest.approx(PLANTED.select[1][0], abs=0.15)


def test_the_user_s_own_tables_make_better_logs_than_none(whole: Path) -> None:
    gaps = {each["name"]: abs(each["rankers"]["top1"]["value"]) for each in found_in(whole)["attempts"]}
    assert gaps["all tokens, user fitted to the first group"] < gaps["names, nothing typed"]
    assert gaps["all tokens, user fitted to the first group"] < 0.05


def test_it_stops_at_the_first_setting_that_is_close_enough(
    real: Path, code: Path, whole: Path, tmp_path: Path
) -> None:
    gaps = [abs(each["rankers"]["top1"]["value"]) for each in found_in(whole)["attempts"]]
    threshold = min(gaps[:3])
    shutil.copytree(whole, tmp_path / "o")
    ended, out, err = calibrated(real, code, tmp_path / "o", "--threshold", threshold, "--resume")
    assert ended == 0, err
    attempts = found_in(tmp_path / "o")["attempts"]
    assert [each["close"] for each in attempts] == [False] * gaps.index(threshold) + [True]
    chosen = tmp_path / "o" / attempts[-1]["workspace"] / "config.yaml"
    assert f"Its configuration: {chosen}" in out
    assert chosen.is_file()
    ended, _, err = calibrated(real, code, tmp_path / "o", "--threshold", min(gaps) / 2, "--resume")
    assert (ended, "no setting is within" in err, "the nearest is" in err) == (1, True, True)


def test_a_resumed_run_finds_the_same_and_makes_no_logs_twice(
    real: Path, code: Path, whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "o")
    workspaces = sorted((tmp_path / "o" / "settings").iterdir())
    for gone in workspaces[2:]:
        shutil.rmtree(gone)
    (tmp_path / "o" / "calibration.json").unlink()
    kept = workspaces[0] / "logs" / "train.parquet"
    written = kept.stat().st_mtime_ns
    ended, _, err = calibrated(real, code, tmp_path / "o", "--all", "--threshold", 1, "--resume", "--jobs", 1)
    assert ended == 0, err
    assert found_in(tmp_path / "o") == found_in(whole)
    assert kept.stat().st_mtime_ns == written
    ended, _, err = calibrated(real, code, tmp_path / "o")
    assert (ended, "is not empty" in err) == (2, True)


def test_a_recording_is_real_logs_and_settings_may_be_one_s_own(code: Path, tmp_path: Path) -> None:
    recording = recorded(tmp_path / "r.jsonl", PLANTED)
    ended, out, err = command("fit-user-model", f"neutral={recording}")
    assert ended == 0, err
    (tmp_path / "user.yaml").write_text(out)
    own = ("--try", tmp_path / "user.yaml", "--threshold", 1)
    ended, out, err = calibrated(f"neutral={recording}", code, tmp_path / "o", *own)
    assert ended == 0, err
    (attempt,) = found_in(tmp_path / "o")["attempts"]
    assert attempt["name"] == "user"
    assert "in_project" not in attempt["rankers"]["features"], "no recording tells it"
    for text, said in (("[]", "has no keys"), ("actions: {strategi: 1}", "did you mean")):
        (tmp_path / "bad.yaml").write_text(text)
        ended, _, err = calibrated(f"neutral={recording}", code, tmp_path / "x", "--try", tmp_path / "bad.yaml")
        assert (ended, said in err) == (2, True), err
        shutil.rmtree(tmp_path / "x")
