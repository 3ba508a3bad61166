"""Workspaces of the plugin, imported: figures by hand, what is left over, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import pytest

from ci_eval.core.manifest import Manifest
from ci_eval.core.model import CallCompletion, FileActions, Session, Status
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.jetbrains.samples import CHECKSUM, IDS, SAMPLES, TEXT, ij21, k19
from tests.projects import sessions

TITLES = {"k19": "BASIC", "ij21": "ML", "ij23": "nightly"}


def imported(folder: Path, *more: object) -> tuple[Workspace, str]:
    code, _, err = command("import", folder, "--output", folder.parent / "ours", *more)
    assert code == 0, err
    return Workspace.open(folder.parent / "ours"), err


@pytest.fixture(params=sorted(SAMPLES))
def generation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_figures_are_those_computed_by_hand(tmp_path: Path, generation: str) -> None:
    workspace, _ = imported(SAMPLES[generation](tmp_path / "2021-03-01_02-00-00"))
    figures = msgspec.json.decode((workspace.folder / "reports/metrics.json").read_bytes())
    found = figures["evaluations"][0]["filters"]["ALL"]["metrics"]
    by_hand = {
        "Sessions": 4,
        "RecallAt1": 1 / 4,
        "RecallAt5": 3 / 4,
        "Recall": 3 / 4,
        "Precision": 3 / 4,
        "MeanRank": (1 + 3 + 5) / 3,
        "MeanReciprocalRank": (1 + 1 / 3 + 1 / 5) / 4,
        "SuggestionPrecision": 3 / 17,
        "MeanLatency": 25.0,
        "MaxLatency": 40.0,
    }
    assert {name: found[name]["value"] for name in by_hand} == pytest.approx(by_hand)


def test_sessions_actions_errors_and_manifest_are_taken_over(tmp_path: Path, generation: str) -> None:
    workspace, _ = imported(SAMPLES[generation](tmp_path / "2021-03-01_02-00-00"), "--engine", "jetbrains@IU-211")
    found, manifest = sessions(workspace), workspace.manifest()
    assert [each.lookups[0].rank for each in found] == [1, 3, 5, None]
    assert [each.status for each in found] == [Status.OK] * 3 + [Status.NO_MATCH]
    assert {each.properties.kind.value for each in found} == {"METHOD_CALL"}
    assert {(each.properties.is_static, each.properties.package) for each in found} == {(True, "p.q")}
    assert [TEXT[each.offset :][: len(each.expected_text)] for each in found] == ["run", "stop", "wait", "go"]
    actions = next(workspace.actions())
    assert (actions.checksum, actions.sessions) == (CHECKSUM, 4)
    asked = [each.session for each in actions.actions if isinstance(each, CallCompletion)]
    assert asked == [each.id for each in found]
    assert [(each.path, each.sessions, each.trace) for each in workspace.errors()] == [("src/B.java", 2, "at p.q")]
    assert (manifest.title, manifest.engine.version, manifest.language) == (TITLES[generation], "IU-211", "java")
    assert (manifest.planned, manifest.finished, manifest.generated) == (6, 4, 6)
    assert (manifest.start, manifest.project.name) == ("2021-03-01T02:00:00+00:00", "sample")


def test_imported_nights_are_compared_and_ranked_anew(tmp_path: Path, generation: str) -> None:
    for night in ("2021-03-01_02-00-00", "2021-03-02_02-00-00"):
        SAMPLES[generation](tmp_path / night)
        assert command("import", tmp_path / night, "--output", tmp_path / f"ours {night}")[0] == 0
    first, second = tmp_path / "ours 2021-03-01_02-00-00", tmp_path / "ours 2021-03-02_02-00-00"
    code, out, err = command("compare", first, second, "--output", tmp_path / "compared")
    assert code == 0, err
    assert "0 better · 0 worse of 4 sessions" in " ".join(out.split())
    code, _, err = command("rerank", first, "--completion-type", "ALPHABETICAL", "--output", tmp_path / "alphabet")
    assert code == 0, err
    # "run" stands behind "r1" to "r4", "stop" behind the four others, "wait" behind all.
    assert [each.lookups[0].rank for each in sessions(Workspace(tmp_path / "alphabet"))] == [5, 5, 5, None]
    assert command("rerank", first, "--completion-type", "FREQUENCY", "--output", tmp_path / "frequent")[0] == 0
    code, _, err = command("compare", second, "--history", tmp_path / "history", "--output", tmp_path / "trend")
    assert code == 0, err


def test_what_has_no_place_is_kept_and_what_is_unknown_is_named(tmp_path: Path) -> None:
    workspace, err = imported(ij21(tmp_path / "2021-03-01_02-00-00", more=',"surprise":[1,2]'))
    assert "unknown field in data: surprise (4 times)" in err
    kept = workspace.folder / "imported"
    lines = [
        msgspec.json.decode(line) for line in gzip.decompress((kept / "fields.jsonl.gz").read_bytes()).splitlines()
    ]
    found = {line["place"]: line["fields"] for line in lines if line["file"] == "data/files/A.java(0).json.gz"}
    assert found["sessions[1]"] == {
        "completableLength": 4, "id": IDS[1], "success": True, "surprise": [1, 2],
    }  # fmt: skip
    assert found["sessions[0]._lookups[0]"]["suggestions"][0]["presentationText"] == "run() : void"
    assert (kept / "config.json").read_bytes() == (tmp_path / "2021-03-01_02-00-00/config.json").read_bytes()
    assert gzip.decompress((kept / f"features/A.java(0)/{IDS[0]}.gz").read_bytes()).startswith(b'[{"common"')


def damage(path: Path, old: bytes, new: bytes) -> None:
    content = gzip.decompress(path.read_bytes())
    assert old in content
    path.write_bytes(gzip.compress(content.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "data/files/A.java(0).json.gz",
            b'"offset":27',
            b'"offset":"x"',
            "sessions[0]: `offset` is a text, not a number",
        ),
        ("data/files/A.java(0).json.gz", b'"offset":27', b'"offset":999', "sessions[0]: offset 999 is after the end"),
        (
            "data/files/A.java(0).json.gz",
            b'"latency":20',
            b'"latency":-1',
            "sessions[1]._lookups[0]: `latency` is -1.0",
        ),
        ("data/files/A.java(0).json.gz", b'"expectedText":"run",', b"", "sessions[0]: `expectedText` is missing"),
        ("data/files/A.java(0).json.gz", b'"_lookups":[{', b'"_lookups":[{{', "(byte "),
        ("data/files/A.java(0).json.gz", b'"filePath":"src/A.java"', b'"filePath":"C"', "it holds the sessions of C"),
        (
            "actions/A.java(1).json.gz",
            b"FINISH_SESSION",
            b"FINISHED",
            "actions[3]: 'FINISHED' is not a known action",
        ),
        ("actions/A.java(1).json.gz", CHECKSUM.encode(), b"0" * 64, "the actions of src/A.java belong to another text"),
    ],
)
def test_a_damaged_one_is_refused_with_the_place(tmp_path: Path, file: str, old: bytes, new: bytes, said: str) -> None:
    folder = k19(tmp_path / "2019-11-01_02-00-00")
    damage(folder / file, old, new)
    code, _, err = command("import", folder, "--output", tmp_path / "ours")
    assert code == 2
    plain = " ".join(err.split())
    assert said in plain
    assert "A.java" in plain
    assert not (tmp_path / "ours").exists()


def test_a_cut_file_and_a_path_that_leads_out_are_refused(tmp_path: Path) -> None:
    folder = k19(tmp_path / "a")
    file = folder / "data/files/A.java(0).json.gz"
    file.write_bytes(file.read_bytes()[:-20])
    assert command("import", folder, "--output", tmp_path / "ours")[0] == 2
    other = k19(tmp_path / "b")
    (other / "data/files.json").write_text('{"src/A.java":"../../../a"}')
    code, _, err = command("import", other, "--output", tmp_path / "ours")
    assert code == 2
    assert "not the path of a file inside its folder" in " ".join(err.split())


def test_golf_and_what_is_no_workspace_are_refused(tmp_path: Path) -> None:
    folder = ij21(tmp_path / "a")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"completionGolf": false', '"completionGolf": true'))
    code, _, err = command("import", folder, "--output", tmp_path / "ours")
    assert code == 2
    assert "code golf" in err
    config.unlink()
    code, _, err = command("import", folder, "--output", tmp_path / "ours")
    assert code == 2
    assert "it has no config.json" in " ".join(err.split())


def test_nothing_in_it_is_an_error_of_its_own(tmp_path: Path) -> None:
    folder = k19(tmp_path / "a")
    (folder / "data/files.json").write_text("{}")
    assert command("import", folder, "--output", tmp_path / "ours")[0] == 3


def test_a_configuration_that_is_not_understood_costs_only_itself(tmp_path: Path) -> None:
    folder = ij21(tmp_path / "a")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"METHOD_CALL"', '"METHOD_CALL", "PARAMETER_MEMBER"'))
    workspace, err = imported(folder)
    assert "only the strategy is read from config.json" in " ".join(err.split())
    manifest: Manifest = workspace.manifest()
    assert (manifest.title, manifest.completion_type, manifest.filters) == (
        "ML", "ML", '{"statementTypes": ["METHOD_CALL"]}',
    )  # fmt: skip


def test_a_modelled_user_and_emulated_typing_are_told_apart(tmp_path: Path) -> None:
    folder = ij21(tmp_path / "a")
    config = folder / "config.json"
    asked = config.read_text()
    config.write_text(asked.replace('"emulateUser": false', '"emulateUser": true'))
    workspace, _ = imported(folder)
    assert workspace.manifest().user
    assert not any(lookup.selected for each in sessions(workspace) for lookup in each.lookups)
    prefix = '{"name": "SimplePrefix", "emulateTyping": true, "n": 2}'
    config.write_text(asked.replace('{"name": "NoPrefix", "emulateTyping": false}', prefix))
    assert command("import", folder, "--output", tmp_path / "typed")[0] == 0
    manifest = Workspace.open(tmp_path / "typed").manifest()
    assert (manifest.user, manifest.strategy) == ("", "ALL/EveryPrefix(2)")


def test_every_stored_value_is_within_the_bounds_of_ours(tmp_path: Path, generation: str) -> None:
    workspace, _ = imported(SAMPLES[generation](tmp_path / "a"))
    for each in sessions(workspace):
        assert msgspec.json.decode(msgspec.json.encode(each), type=Session) == each
    for actions in workspace.actions():
        assert msgspec.json.decode(msgspec.json.encode(actions), type=FileActions) == actions
