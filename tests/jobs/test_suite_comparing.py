"""Two suites that were evaluated, compared: a verdict for each project, and one over all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import command
from tests.jobs.test_suites import configured, stored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Five projects by `words`, the same by an engine that suggests nothing, and two of them by `words`."""
    root = tmp_path_factory.mktemp("suites")
    path = configured(root, more="comparison: {metrics: [Recall]}\n")
    some = root / "some.yaml"
    some.write_text(f"engine: words\nprojects: {json.dumps([f'path:{root / name}' for name in ('p3', 'p1')])}\n")
    asked = {"words": (path,), "empty": (path, "--engine", "empty"), "some": (some,)}
    for name, arguments in asked.items():
        code, _, said = command("evaluate", *arguments, "--jobs", 1, "--output", root / name)
        assert code == 0, said
    return {name: root / name for name in asked}


def test_each_project_and_all_have_a_verdict(suites: dict[str, Path], tmp_path: Path) -> None:
    code, out, said = command("compare", suites["words"], suites["empty"], "--output", tmp_path / "out")
    assert code == 0, said
    found = stored(tmp_path / "out")
    assert found["compared"]
    assert [each["differences"]["Recall"]["verdict"] for each in found["projects"]] == ["worse"] * 5
    assert found["overall"]["Recall"]["verdict"] == "worse"
    assert out.strip().endswith(str(tmp_path / "out"))
    for each in found["projects"]:
        page = tmp_path / "out" / each["folder"] / "html" / "index.html"
        assert page.is_file()
        assert f'href="../{each["folder"]}/html/index.html"' in (tmp_path / "out" / "html" / "index.html").read_text()


def test_a_gate_that_a_project_breaks_is_named(suites: dict[str, Path], tmp_path: Path) -> None:
    given = ("--gate", "Recall >= -1pp", "--output", tmp_path / "out")
    assert command("compare", suites["words"], suites["empty"], *given)[0] == 1
    assert all("Recall >= -1pp" in each["trouble"] for each in stored(tmp_path / "out")["projects"])


def test_what_one_suite_has_alone_is_left_out_and_said(suites: dict[str, Path], tmp_path: Path) -> None:
    code, _, said = command("compare", suites["words"], suites["some"], "--output", tmp_path / "out")
    assert code == 0, said
    assert [each["project"]["name"] for each in stored(tmp_path / "out")["projects"]] == ["p1", "p3"]
    assert "left out" in said
    assert "p4" in said


@pytest.mark.parametrize(
    ("base", "new", "more", "code"),
    [("words", "some", (), 1), ("some", "words", (), 1), ("some", "words", ("--first-night",), 0)],
)
def test_gates_of_a_project_in_one_suite_alone_are_not_kept(
    suites: dict[str, Path], tmp_path: Path, base: str, new: str, more: tuple[str, ...], code: int
) -> None:
    given = ("--gate", "Recall >= -1pp", *more, "--output", tmp_path / "out")
    done, _, said = command("compare", suites[base], suites[new], *given)
    assert (done, "1 gate was not judged" in " ".join(said.split())) == (code, code == 1), said


def test_a_suite_goes_with_another_alone(suites: dict[str, Path], tmp_path: Path) -> None:
    words = suites["words"]
    workspace = words / stored(words)["projects"][0]["folder"]
    for other, message in ((workspace, "one other suite"), (words, "")):
        code, _, said = command("compare", words, other, "--history", tmp_path / "h")
        assert code == 2
        assert message in " ".join(said.split())


def test_a_folder_of_a_suite_stays_inside(suites: dict[str, Path], tmp_path: Path) -> None:
    found = stored(suites["words"])
    found["projects"][0]["folder"] = "../../elsewhere"
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "suite.json").write_text(json.dumps(found))
    code, _, said = command("compare", suites["words"], tmp_path / "evil", "--output", tmp_path / "out")
    assert code != 0
    assert "damaged" in said
