"""Texts of a workspace that would be commands: to a terminal, to a CI, to whoever renders a report."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.model import EngineInfo, FileError, ProjectInfo, Session, Suggestion
from ci_eval.core.workspace import Workspace, pack_sessions
from tests.command import command
from tests.packed import unpacked
from tests.projects import GREETER, write

EVIL = (
    "\x1b]0;owned\x07\x1b[2J\r\n::set-env name=EVIL::x\n##teamcity[evil 'x']\u202e <img src=x onerror=evil()> @evil |`"
)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation in which every text that may be anything is EVIL, sealed as if nothing had happened."""
    root = tmp_path_factory.mktemp("evil")
    project = write(root / "p", a__py=GREETER)
    argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night", "--jobs", 1)
    assert command(*argv)[0] == 0
    workspace = Workspace(root / "night")
    for source, sessions in list(workspace.sessions(Session)):
        changed = [
            replace(each, file=EVIL, message=EVIL, expected_text=EVIL, lookups=looked(each)) for each in sessions
        ]
        shutil.rmtree(workspace.folder / "sessions")
        workspace.write_sessions(EVIL, pack_sessions(replace(source, path=EVIL, text=EVIL + source.text), changed))
    workspace.write_error(FileError(path=EVIL, stage="interpret", message=EVIL, trace=EVIL))
    manifest = workspace.manifest()
    workspace.write_manifest(
        replace(
            manifest,
            title=EVIL,
            engine=EngineInfo(name=EVIL, version=EVIL, packages={EVIL: EVIL}),
            project=ProjectInfo(spec=EVIL, name=EVIL, revision=EVIL, checksum=EVIL),
            completion_type=EVIL,
            processor=EVIL,
            os=EVIL,
            grammar=EVIL,
        )
    )
    workspace.seal()
    return workspace.folder


def looked(session: Session) -> tuple[object, ...]:
    """Its lookups, with suggestions of the same kind."""
    wrong = (Suggestion(text=EVIL, kind=EVIL), Suggestion(text=EVIL + "2"))
    return tuple(replace(each, prefix=EVIL, suggestions=wrong) for each in session.lookups)


def other(evil: Path, folder: Path) -> Path:
    """The same on another CPU and another night."""
    workspace = Workspace(Path(shutil.copytree(evil, folder)))
    manifest = workspace.manifest()
    workspace.write_manifest(
        replace(manifest, processor=f"{EVIL}2", start="2020-01-01T00:00:00+00:00", title=f"{EVIL}2")
    )
    workspace.seal()
    return folder


@pytest.fixture(params=["none", "github", "teamcity"])
def ci(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """What is told of results."""
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return str(request.param)


def is_harmless(text: str, ci: str) -> bool:
    """Whether it moves no cursor and gives no command."""
    lines = [line.strip() for line in re.split(r"[\r\n\u2028]", text)]
    command_found = any(line.startswith("::set-env") for line in lines) if ci == "github" else "##teamcity[evil" in text
    return not UNSEEN.search(text) and (ci == "none" or not command_found)


@pytest.mark.parametrize("task", ["report", "show", "compare", "rank", "refused"])
def test_what_is_printed_is_harmless(evil: Path, tmp_path: Path, ci: str, task: str) -> None:
    (path,) = (evil / "sessions").iterdir()
    identity = msgspec.json.decode(unpacked(path).splitlines()[1])["id"]
    again = other(evil, tmp_path / "again")
    argv = {
        "report": ("report", evil),
        "show": ("show", evil, identity),
        "compare": ("compare", evil, again, "--gate", "RecallAt1 >= -1pp", "--output", tmp_path / "out"),
        "rank": ("compare", evil, again, other(evil, tmp_path / "third"), "--output", tmp_path / "out"),
        "refused": ("merge", evil, again, "--output", tmp_path / "out"),
    }[task]
    code, out, err = command("--ci", ci, *argv)
    assert code in {0, 1, 2}, err
    assert is_harmless(out, ci), out
    assert is_harmless(err, ci), err


def test_a_trend_of_evil_nights_is_harmless(evil: Path, tmp_path: Path, ci: str) -> None:
    assert command("report", evil)[0] == 0
    report = msgspec.json.decode((evil / "reports" / "metrics.json").read_bytes())
    (tmp_path / "past").mkdir()
    for night in range(10, 30):
        report["evaluations"][0] |= {"started": f"2020-01-{night}{EVIL}"}
        report["evaluations"][0]["engine"]["version"] = f"{EVIL}{night // 20}"
        report["evaluations"][0]["filters"][report["evaluations"][0]["headline"]]["metrics"]["RecallAt1"]["value"] = (
            0.9 if night < 20 else 0.1
        )
        (tmp_path / "past" / f"{night}.json").write_bytes(msgspec.json.encode(report))
    code, out, err = command("--ci", ci, "compare", evil, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    assert is_harmless(out + err, ci)
    page, markdown = (tmp_path / "out" / name for name in ("html/index.html", "report.md"))
    assert "changed   " in out
    assert "<img" not in page.read_text()
    assert_no_markup(markdown.read_text())


def assert_no_markup(markdown: str) -> None:
    """Outside of code there is no tag but our own, and nobody is mentioned."""
    rest = re.sub(r"`[^`\n]*`|<code>[^<]*</code>|</?(details|summary)>", "", markdown)
    assert not re.search(r"<\w|@evil|::set-env|##teamcity", rest), rest


def test_reports_hold_no_markup_of_it(evil: Path, tmp_path: Path) -> None:
    assert command("report", evil)[0] == 0
    again = other(evil, tmp_path / "again")
    assert command("compare", evil, again, "--output", tmp_path / "out")[0] == 0
    folders = (evil / "reports", tmp_path / "out")
    pages = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".html", ".js", ".xml"}]
    assert len(pages) > 6
    assert [path for path in pages if "<img" in path.read_text()] == []
    for folder in folders:
        assert_no_markup((folder / "report.md").read_text())
    junit = (tmp_path / "out" / "junit.xml").read_text()
    assert [text for text in ElementTree.fromstring(junit).iter() if "\n" in str(text.attrib)] == []
    drawings = [drawn for page in pages for drawn in re.findall("<svg.*?</svg>", page.read_text(), re.DOTALL)]
    assert {ElementTree.fromstring(drawn).tag for drawn in drawings} == {"svg"}


def test_tables_have_a_cell_for_each_text_and_no_formula(evil: Path, tmp_path: Path) -> None:
    assert command("export", evil, "--format", "csv", "--output", tmp_path / "csv")[0] == 0
    for path in (tmp_path / "csv").iterdir():
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        assert not [cell for row in rows for cell in row if re.match(r"[=+@\t\r]|-\D", cell)]
