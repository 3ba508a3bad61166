"""The commands for workflows and build steps: jobs with the CI's inputs, earlier nightly runs, pages and comments."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from ci_eval.ci import Announcement, Screen, builds, limits
from ci_eval.ci.gitlab import Project
from ci_eval.ci.inputs import JOB, cache_key, command_line, configs, is_first_night, read_inputs
from ci_eval.ci.repository import Repository, variables_of
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import FOLDER, add_gate_options, end_with
from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.workflows import announcements as announcing
from ci_eval.jobs.workflows import earlier_runs, posts


@cli.group("ci")
def ci() -> None:
    """Commands for workflows and build steps. Inputs are the JSON object CI_EVAL_INPUTS, or variables INPUT_NAME."""


@ci.command("run")
@click.argument("job", required=False)
def run_(job: str | None) -> None:
    """Run JOB (or the input `job`) with the inputs as its options."""
    inputs = _inputs()
    job = job or inputs.get("job", "")
    if is_first_night(job, inputs):
        Screen().say("There is no base yet: this is a first night.")
    os.environ[JOB] = job
    # `main` turns errors into messages and exit codes, so click must not end the process.
    cli.main(command_line(job, inputs), standalone_mode=False)


@ci.command("key")
def key_() -> None:
    """Print the key under which the CI may keep the cache, and its path: the outputs `key` and `path`."""
    key, path = cache_key(_inputs()), str(machine.cache_folder())
    _announce(f"{key} {path}", key=key, path=path)


FIRST_NIGHT = "Succeed without a base, even if there are earlier runs."
RUN = "The run that is the base, whatever its result (or CI_EVAL_BASE_RUN)."


@ci.command("last-good")
@click.argument("evaluation")
@click.option("--base", type=FILE, metavar="DIR", required=True, help="The folder for its workspace.")
@click.option("--history", type=FILE, metavar="DIR", required=True, help="The folder for the figures of all nights.")
@click.option("--run", type=int, metavar="ID", envvar="CI_EVAL_BASE_RUN", help=RUN)
@click.option(
    "--new", type=FILE, metavar="WORKSPACE", help="Tonight's workspace, which the base must be comparable with."
)
@click.option("--first-night", is_flag=True, envvar="CI_EVAL_FIRST_NIGHT", help=FIRST_NIGHT)
def last_good(evaluation: str, base: Path, history: Path, run: int | None, new: Path | None, first_night: bool) -> None:
    """Download the newest nightly run at GitHub in which EVALUATION kept its gates. At GitLab EVALUATION is the name of
    a job.

    On a first night the outputs `base` and `run-id` are empty: if EVALUATION succeeded in no earlier run of this
    workflow, or with --first-night. Needs GITHUB_TOKEN.
    """
    screen = Screen()
    if os.environ.get("GITLAB_CI"):
        project, tonight = Project(os.environ), new or Path("workspace")
        earlier_runs.fetch_base_of_job(
            project, evaluation, base=base, history=history, new=tonight, is_first=first_night, screen=screen
        )
        return
    repository = Repository(os.environ)
    base_run = earlier_runs.fetch_base(
        repository, evaluation, base=base, history=history, run=run, new=new, is_first=first_night, screen=screen
    )
    outputs = {
        "base": str(base) if base_run else "",
        "run-id": str(base_run or ""),
        "first-night": "" if base_run else "true",
    }
    _announce(f"base: {base_run or 'none'}", **outputs)


HISTORIES_RUN = "A night of the workflow. Default: CI_EVAL_NIGHT, or this run."


@ci.command("histories")
@click.option(
    "--output", type=FILE, metavar="DIR", required=True, help="The folder that gets a folder for each evaluation."
)
@click.option("--run", type=int, metavar="ID", envvar="CI_EVAL_NIGHT", help=HISTORIES_RUN)
def histories(output: Path, run: int | None) -> None:
    """Download the newest artifact history-… of each evaluation at GitHub, for `ci-eval site`.

    Only runs of the default branch and of the same workflow count. The output `histories` is DIR, or empty if there are
    none. Needs GITHUB_TOKEN.
    """
    screen = Screen()
    repository = Repository(os.environ)
    names = earlier_runs.fetch_histories(repository, run or repository.run, output, screen)
    if not names:
        screen.warn("the default branch has no history yet, or all histories have expired")
    _announce(f"{len(names)} histories", histories=str(output) if names else "")


FROM = (
    "A repository at GitHub (https://github.com/OWNER/NAME), or a build configuration of TeamCity "
    "(https://SERVER/buildConfiguration/ID). Default: GITHUB_REPOSITORY."
)


@ci.command("download")
@click.argument("pattern")
@click.option("--beside", metavar="NAME", help="At GitHub, the name of an artifact that only complete runs have.")
@click.option("--from", "page", metavar="ADDRESS", help=FROM)
@click.option("--output", type=FILE, metavar="DIR", required=True, help="Gets a folder for each artifact.")
def download(pattern: str, beside: str | None, page: str | None, output: Path) -> None:
    """Download the artifacts PATTERN of the newest run of the default branch at GitHub that also has the artifact NAME.

    At TeamCity, without --beside, download those of the newest successful build of the default branch.

    Needs GITHUB_TOKEN, which may read Actions, or TEAMCITY_TOKEN. The command also works outside of CI.
    """
    screen = Screen()
    if page and builds.PAGE.fullmatch(page):
        if beside:
            raise ConfigError("--beside chooses a run at GitHub, and has no effect at TeamCity: leave --beside out")
        folders = earlier_runs.fetch_of_newest_build(builds.Builds(page, os.environ), pattern, output, screen)
    else:
        environment = {**os.environ, **(variables_of(page, os.environ) if page else {})}
        if not beside:
            raise ConfigError(
                "at GitHub, add --beside NAME, an artifact that only complete runs have, such as ranker-python"
            )
        folders = earlier_runs.fetch_of_complete_run(Repository(environment), beside, pattern, output, screen)
    for folder in folders:
        screen.line(str(folder))


@ci.command("rankers")
def rankers() -> None:
    """Print the newest run at GitHub that left rankers (`ranker-CONFIG`), and for which of the input `configs`.

    The outputs `run-id` and `configs` are empty if there is none. Needs GITHUB_TOKEN.
    """
    named = {limits.name(path.stem): path.as_posix() for path in configs(_inputs())}
    run, names = earlier_runs.find_rankers(Repository(os.environ), list(named), Screen())
    chosen = " ".join(named[name] for name in names)
    _announce(f"run {run}: {chosen}" if run else "no ranker", configs=chosen, **{"run-id": str(run or "")})


@ci.command("summary")
@click.argument("matrices", metavar="JSON...", nargs=-1, required=True)
def summary(matrices: tuple[str, ...]) -> None:
    """Write one page about a nightly run at GitHub, with the comparison of each evaluation.

    JSON is the output `each-evaluation` of `plan`; an empty one is ignored. Needs GITHUB_TOKEN.
    """
    evaluations: dict[str, bool] = {}
    for matrix in filter(None, matrices):
        try:
            rows = msgspec.json.decode(matrix, type=_Matrix).include
        except msgspec.DecodeError:
            raise ConfigError(f"{matrix!r} is not a matrix such as plan's output `each-evaluation`") from None
        evaluations |= {row.evaluation: row.allow_failure for row in rows}
    text = posts.page(Repository(os.environ), evaluations)
    screen = Screen()
    screen.host.announce(Announcement(status=f"{len(evaluations)} evaluations", summary=text))
    for line in text.splitlines():
        screen.line(line)


HISTORY = "A folder with past figures, in a folder for each evaluation: draw the trends, and add tonight's."


@ci.command("algorithms")
@click.argument("workspaces", metavar="WORKSPACE...", type=FOLDER, nargs=-1)
@add_gate_options
@click.option("--history", type=FILE, metavar="DIR", help=HISTORY)
@click.option("--output", type=FILE, metavar="DIR", required=True, help="The folder of the pages; new or empty.")
def algorithms(workspaces: tuple[Path, ...], gates: tuple[str, ...], history: Path | None, output: Path) -> None:
    """Rank all evaluations of a night, engines and completion types, over the sessions that they share.

    A folder means the workspaces in it. Evaluations of one language and project make one ranking: DIR, or a folder
    in DIR for each if there are several. Gates compare each evaluation with the first one of its ranking; the input
    `gates` has more of them, one on each line.
    """
    screen = Screen()
    gates = (*gates, *filter(None, map(str.strip, read_inputs(os.environ).get("gates", "").splitlines())))
    done = compare_job.rank_nightly(workspaces, gates=gates, history=history, output=output, screen=screen)
    screen.host.announce(announcing.ranking(done, history))
    for outcome in done.result.values():
        if outcome.overview:
            presenting.overview(outcome.overview, outcome.reports, screen)
        presenting.gates_of(outcome.comparisons, screen)
    end_with(done.folder, done.trouble, screen)


@ci.command("notice")
@click.argument("result")
@click.option("--run", type=int, metavar="ID", help="Which run. Default: this one.")
def notice(result: str, run: int | None) -> None:
    """Report the result of a run at GitHub: a red run opens an issue for its workflow file, a green run closes it.

    RESULT is `needs.JOB.result`, or the conclusion of a run. Needs GITHUB_TOKEN, with issues: write.
    """
    repository = Repository(os.environ)
    _announce(posts.report_result(repository, result, run or repository.run))


WHEN = "When a new comment is posted."


@ci.command("comment")
@click.option("--run", type=int, metavar="ID", required=True, help="The run that left the comparisons.")
@click.option("--head", metavar="SHA", required=True, help="The commit that was evaluated, as GitHub says.")
@click.option("--when", type=click.Choice(list(posts.WHEN)), default="changed", show_default=True, help=WHEN)
def comment(run: int, head: str, when: str) -> None:
    """Post the report of each artifact `comparison` or `comparison-NAME`, or change its comment on the pull request
    that its number.txt names.

    Needs GITHUB_TOKEN, with actions: read, pull-requests: write and pages: read.
    """
    for line in posts.post_all(Repository(os.environ), run, head, when):
        _announce(line)


@ci.command("note")
@click.argument("comparison", type=FILE)
def note(comparison: Path) -> None:
    """Write the report of a COMPARISON on the merge request of this job at GitLab, or change the note that is there.

    Needs a token of the project in CI_EVAL_GITLAB_TOKEN, with api.
    """
    _announce(posts.note(Project(os.environ), os.environ, comparison))


def _inputs() -> dict[str, str]:
    """Change to the inputs' working directory, and return the inputs. Raises ConfigError if it is not a folder."""
    inputs = read_inputs(os.environ)
    folder = Path(inputs.get("working-directory", "."))
    if not folder.is_dir():
        raise ConfigError(f"working-directory {folder} is not a folder: give a folder of the checkout")
    # Paths in the inputs are relative to the working directory.
    os.chdir(folder)
    return inputs


class _Evaluation(msgspec.Struct, frozen=True, rename="camel"):
    evaluation: str
    allow_failure: bool = False


class _Matrix(msgspec.Struct, frozen=True):
    include: list[_Evaluation]


def _announce(status: str, **outputs: str) -> None:
    screen = Screen()
    screen.host.announce(Announcement(status=status, outputs=outputs))
    screen.result(status)
