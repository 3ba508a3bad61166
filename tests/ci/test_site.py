"""Histories from GitHub, and the site made of them: against a server that speaks its protocol, and under act."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.ci.documentation import documented
from tests.ci.expressions import evaluate, jobs
from tests.ci.github_api import Services, served
from tests.ci.stand_ins import OURS, THEIRS, GitHub, github
from tests.command import command
from tests.histories import night
from tests.projects import GREETER, write

Test = TypeVar("Test", bound=Callable[..., None])
NIGHT, OTHER = ".github/workflows/nightly.yml", ".github/workflows/compare.yml"


def stored(services: Services, run: int, evaluation: str, *days: int, workflow: str = NIGHT) -> None:
    """The history that a run uploaded."""
    services.workflows[run] = workflow
    folder = services.artifacts / str(run)
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"history-{evaluation}.zip", "w") as archive:
        for day in days:
            archive.write(night(services.artifacts.parent / "made", day), f"{day}.json")


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """As for run 9 of site.yml."""
    (tmp_path / "artifacts").mkdir()
    with served(Services(tmp_path / "artifacts")) as found:
        monkeypatch.chdir(tmp_path)
        for name, value in {
            "API_URL": found.address, "REPOSITORY": "o/r", "TOKEN": "t", "RUN_ID": "9", "ACTIONS": "true",
            "WORKFLOW_REF": "o/r/.github/workflows/site.yml@refs/heads/main", "OUTPUT": str(tmp_path / "outputs"),
        }.items():  # fmt: skip
            monkeypatch.setenv(f"GITHUB_{name}", value)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        found.workflows[9] = ".github/workflows/site.yml"
        yield found


def histories(*more: object) -> dict[str, list[str]]:
    """Evaluation → its files."""
    code, _, said = command("ci", "histories", "--output", "histories", *more)
    assert code == 0, said
    return {each.name: sorted(path.name for path in each.iterdir()) for each in Path("histories").iterdir()}


def test_of_each_evaluation_the_newest_history_is_fetched(services: Services) -> None:
    stored(services, 3, "python", 1)
    stored(services, 3, "go", 1)
    stored(services, 4, "python", 1, 2)
    assert histories("--run", 4) == {"python": ["1.json", "2.json"], "go": ["1.json"]}


@pytest.mark.parametrize("why", ["fork", "other workflow", "expired"])
def test_a_history_that_is_not_of_these_nights_is_left_alone(services: Services, why: str) -> None:
    stored(services, 3, "python", 1)
    stored(services, 4, "python", 1, 2, workflow=OTHER if why == "other workflow" else NIGHT)
    services.foreign = {4} if why == "fork" else set()
    services.expired = {"4/history-python"} if why == "expired" else set()
    assert histories("--run", 3) == {"python": ["1.json"]}


def test_a_job_of_the_night_itself_needs_no_run(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(services, 3, "python", 1)
    services.workflows[9] = NIGHT
    monkeypatch.setenv("CI_EVAL_NIGHT", "")
    assert histories() == {"python": ["1.json"]}


def test_a_run_that_is_gone_is_said(services: Services) -> None:
    stored(services, 3, "python", 1)
    services.forget_runs()
    code, _, said = command("ci", "histories", "--output", "histories", "--run", 3)
    assert (code, "this repository has no run 3" in said) == (4, True)


def test_before_the_first_night_there_is_a_folder_and_a_warning(services: Services) -> None:
    assert services.address
    code, _, said = command("ci", "histories", "--output", "histories")
    assert code == 0
    assert "has no history yet" in said
    assert "histories<<" in Path("outputs").read_text()
    assert "histories\n" not in Path("outputs").read_text()
    assert list(Path("histories").iterdir()) == []


def test_a_history_has_no_name_that_leads_elsewhere(services: Services) -> None:
    stored(services, 3, "..", 1)
    (folder,) = histories("--run", 3)
    assert not folder.startswith(".")


# ---------------------------------------------------------------------------------------------------------- under act


def executed(test: Test) -> Test:
    """Marks what runs under act."""
    for mark in (pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("go", "node", "npm")):
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHub]:
    folder = tmp_path_factory.mktemp("github")
    project = write(folder / "p", file__py=GREETER)
    callers = {"site": documented("A site with trends")}
    with github(folder, {}, project, callers) as served_hub:
        yield served_hub


def ended(
    run: int, *, branch: str = "main", owner: str = "", repository: str = OURS, pages: bool = True
) -> dict[str, Any]:
    """What GitHub says when a night is over; `owner`: of a fork."""
    head = {"full_name": f"{owner}/fork" if owner else repository}
    return {
        "workflow_run": {"id": run, "head_branch": branch, "head_repository": head},
        "repository": {"default_branch": "main", "has_pages": pages},
    }


def published(hub: GitHub, run: int, name: str) -> dict[str, str]:
    """The files of the site; Pages takes regular files and folders only."""
    with tarfile.open(hub.artifact(run, name) / "artifact.tar") as archive:
        members = archive.getmembers()
        assert all(each.isfile() or each.isdir() for each in members)
        files = {each.name: archive.extractfile(each) for each in members if each.isfile()}
        return {name.removeprefix("./"): (file or io.BytesIO()).read().decode() for name, file in files.items()}


@executed
def test_a_site_is_made_of_the_nights_as_the_documentation_says_and_a_further_attempt_publishes_its_own(
    hub: GitHub,
) -> None:
    stored(hub.services, 1, "python-jedi-basic", 1)
    stored(hub.services, 2, "python-jedi-basic", 1, 2)
    first_attempt = hub.zip(5, "github-pages-1")
    first_attempt.parent.mkdir()
    with zipfile.ZipFile(first_attempt, "w") as archive:
        archive.writestr("artifact.tar", "of the first attempt")
    ended_night = ended(2, repository=THEIRS)
    code, log = hub.run("site", 5, "workflow_run", THEIRS, ended_night, attempt=2)
    assert code == 0, log
    assert "Creating Pages deployment" in log
    assert hub.names(5) == {"github-pages-1", "github-pages-2"}
    site = published(hub, 5, "github-pages-2")
    assert "python-jedi-basic" in site["index.html"]
    assert "assets/style.css" in site
    (figures,) = (text for name, text in site.items() if name.endswith("/trend.json"))
    assert figures.count('"started"') == 2


@pytest.mark.registry
@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize(
    ("event", "histories", "is_made", "is_published"),
    [
        (ended(2), "histories", True, True),
        (ended(2, branch="topic"), "histories", False, False),
        (ended(2, owner="somebody"), "histories", False, False),
        (ended(3), "", True, False),
        (ended(2, pages=False), "histories", True, False),
    ],
    ids=["a night", "another branch", "a fork", "no history", "no Pages"],
)
def test_nothing_is_published_that_would_not_be_the_nights(
    event: dict[str, Any], histories: str, is_made: bool, is_published: bool
) -> None:
    github = {"event_name": "workflow_run", "event": event, "repository": OURS, "run_attempt": 1}
    make, publish = (jobs("site")[name] for name in ("make", "publish"))
    find, *later = make["steps"][1:]
    steps = {"histories": {"outputs": {"histories": histories}}}
    assert bool(evaluate(make["if"], github=github)) == is_made
    assert evaluate(find["env"]["CI_EVAL_NIGHT"], github=github, inputs={}) == event["workflow_run"]["id"]
    # The library of GitHub's expressions has no `hashFiles`, which the step of the documentation asks as well.
    conditions = [step["if"].removesuffix(" && hashFiles('checkout/.ci/docs_site.py') != ''") for step in later]
    assert [bool(evaluate(condition, steps=steps)) for condition in conditions] == [bool(histories)] * 4
    # A job that is skipped has no outputs.
    artifact = evaluate(make["outputs"]["artifact"], steps=steps, github=github) if is_made else ""
    needs = {"make": {"outputs": {"artifact": artifact}}}
    assert artifact == ("github-pages-1" if is_made and histories else "")
    assert bool(evaluate(publish["if"], github=github, needs=needs)) == is_published
