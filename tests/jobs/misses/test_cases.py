"""Cases in four languages against real engines, and a server that is broken and mended."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command import command
from tests.projects import write

CASES = Path(__file__).parent / "cases"
SERVER = Path(__file__).parent / "planted.py"
MEMBERS = "class A:\n    pass\n\n\nA().\n#   ^ expect: count, total\nprint(d)\n#     ^ expect: data; not: count\n"


def planted(defect: str) -> str:
    return f"{sys.executable} {SERVER} {defect}"


def results(folder: Path) -> list[dict[str, object]]:
    cases: list[dict[str, object]] = json.loads((folder / "cases.json").read_text())["cases"]
    return cases


def test_jedi_keeps_the_cases_in_python_and_those_of_others_are_left_out(tmp_path: Path) -> None:
    code, out, err = command("cases", CASES, "--output", tmp_path / "out")
    assert (code, err.count("Preparing engine")) == (0, 1), out
    assert out.startswith("8 cases, none broken (jedi ")
    assert "Cases in TypeScript are left out" in err
    assert max(map(len, out.split("html ")[0].splitlines())) <= 80
    assert {case["file"] for case in results(tmp_path / "out")} == {"python/members.py", "python/new.py"}


@pytest.mark.registry
@pytest.mark.parametrize(("engine", "language"), [("typescript", "typescript"), ("gopls", "go"), ("jdt", "java")])
def test_engines_of_other_languages_keep_theirs(engine: str, language: str, tmp_path: Path) -> None:
    folder = CASES / language if language == "go" else CASES
    code, out, _ = command("cases", folder, "--engine", engine, "--language", language, "--output", tmp_path / "out")
    assert code == 0, out
    assert Counter({"typescript": 4, "go": 2, "java": 1})[language] == len(results(tmp_path / "out"))


PAGE = Path(__file__).parents[3] / "docs" / "results" / "misses.md"
REPORT = re.compile(r"^\| `github:(\S+)` .*\| (\S+) \S+ \| (kept|broken) \|$", re.MULTILINE)


@pytest.mark.registry
@pytest.mark.parametrize("engine", ["ty", "zuban", "pyrefly", "jedi", "pyright", "typescript", "gopls"])
def test_public_reports_are_as_broken_as_the_page_says(engine: str, tmp_path: Path) -> None:
    told = {report: result for report, of, result in REPORT.findall(PAGE.read_text()) if of == engine}
    folder = Path(__file__).parent / "reports" / engine
    command("cases", folder, "--engine", engine, "--output", tmp_path)
    seen = dict[str, str]()
    for case in results(tmp_path):
        report = (folder / str(case["file"])).read_text().split(maxsplit=2)[1].rstrip(":")
        seen[report] = "broken" if case["reasons"] or seen.get(report) == "broken" else "kept"
    assert told
    assert seen == told


def test_a_defect_breaks_a_case_and_its_repair_keeps_it(tmp_path: Path) -> None:
    cases = write(tmp_path / "cases", a__py=MEMBERS)
    code, out, err = command("cases", cases, "--engine-command", planted("inherited"), "--output", tmp_path / "out")
    assert (code, "error: 1 of 2 cases are broken" in err) == (1, True)
    assert "a.py:5 BROKEN: total is not offered; first count, label" in out
    suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert command("cases", cases, "--engine-command", planted("none"))[0] == 0
    code, out, _ = command("cases", cases, "--engine-command", planted("bare"))
    assert (code, "a.py:7 BROKEN: count is offered, at rank 1" in out) == (1, True)


def test_the_snapshot_names_what_came_and_went_although_lines_were_added_above(tmp_path: Path) -> None:
    cases = write(tmp_path / "cases", a__py=MEMBERS)
    snapshot, output = tmp_path / "lists.json", tmp_path / "out"
    command("cases", cases, "--engine-command", planted("none"), "--snapshot", snapshot, "--update")
    write(cases, a__py=f"import os\n\n{MEMBERS}")
    options = ("--snapshot", snapshot, "--output", output)
    assert "No list changed since " in command("cases", cases, "--engine-command", planted("none"), *options)[1]
    command("cases", cases, "--engine-command", planted("inherited"), *options)
    page = (output / "cases.md").read_text()
    assert "`-describe (2), -render (4), -total (5), label (3 → 2)`" in page
    assert len(page.splitlines()) <= 20
    assert json.loads(snapshot.read_text())["title"].startswith("planted.py")


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        ("x.\n# ^ expekt: y\n", (), 2, "a.py:2: 'expekt: y' is not a directive"),
        ("x = 1\n", (), 3, "has no cases"),
        ("x.\n# ^ silent\n", ("--engine", "clangd"), 3, "and clangd knows cpp"),
        ("x.\n# ^ silent\n", ("--update",), 2, "add --snapshot FILE"),
        ("x.\n# ^ silent\n", ("--snapshot", "none.json"), 2, "--update writes it"),
    ],
)
def test_what_cannot_be_asked_is_said(
    text: str, arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    ended, _, err = command("cases", write(tmp_path / "cases", a__py=text), *arguments)
    assert ended == code
    assert message in " ".join(err.split())


def test_a_folder_of_cases_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    code, _, err = command("cases", tmp_path / "case", "--engine", "jedi")
    assert (code, "is not a folder" in err) == (2, True)


def test_a_server_that_ends_breaks_its_cases_with_the_reason(tmp_path: Path) -> None:
    cases = write(tmp_path / "cases", a__py="x.\n# ^ silent\n")
    code, out, _ = command("cases", cases, "--engine-command", f"{sys.executable} -c 0")
    assert (code, "BROKEN: no list, engine-crash" in out) == (1, True), out


def test_a_step_of_a_ci_reports_each_broken_case_and_summarises_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = write(tmp_path / "cases", a__py=MEMBERS)
    command("cases", cases, "--engine-command", planted("none"), "--snapshot", tmp_path / "lists.json", "--update")
    summary, outputs = tmp_path / "summary", tmp_path / "outputs"
    files = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": outputs, "INPUT_SNAPSHOT": tmp_path / "lists.json"}
    step = {"CI_EVAL_CI": "github", "INPUT_FOLDER": cases, "INPUT_ENGINE_COMMAND": planted("inherited"), **files}
    for name, value in step.items():
        monkeypatch.setenv(name, str(value))
    code, out, _ = command("ci", "run", "cases")
    assert (code, "::error title=ci-eval::a.py:5 expect: count, total: total is not offered" in out) == (1, True)
    assert "-describe (2)" in summary.read_text()
    assert len(summary.read_text().splitlines()) <= 20
    assert "gate-failed" in outputs.read_text()
