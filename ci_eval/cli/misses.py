"""The commands about misses: list causes, reduce a miss to a small case, check cases, and find changed versions."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli import options as cli_options
from ci_eval.cli.completions import add_named_option, add_settings_option
from ci_eval.cli.group import FILE, cli
from ci_eval.cli.options import FOLDER, TRUST, add_open_option, add_view_options, show_report
from ci_eval.core.base.errors import GateFailed
from ci_eval.core.config.loading import View
from ci_eval.jobs import show
from ci_eval.jobs import terminal as presenting
from ci_eval.jobs.misses import bisect as bisect_job
from ci_eval.jobs.misses import reduce as reduce_job
from ci_eval.jobs.misses.cases import run_cases
from ci_eval.jobs.workflows import announcements as announcing

BASE = "List what got worse since this earlier run, over the sessions of both."
OTHER = "A run of another engine over the same sessions, to see whether it has what is missed; may be repeated."


@cli.command()
@click.argument("workspace", type=FOLDER)
@click.option("--base", type=FOLDER, metavar="WORKSPACE", help=BASE)
@click.option("--other", "others", type=FOLDER, metavar="WORKSPACE", multiple=True, help=OTHER)
@click.option("--output", type=FILE, metavar="DIR", help="The folder of the results. Default: WORKSPACE/reports.")
@add_view_options
@add_open_option
def causes(
    workspace: Path, base: Path | None, others: tuple[Path, ...], output: Path | None, view: View, opening: bool
) -> None:
    """List what to fix first: the misses of WORKSPACE by their causes, without asking an engine.

    A cause is what was first instead, whether that can be there at all, or why the expected text is absent. Write
    causes.json, causes.md and causes/index.html. The figures are those of the headline's sessions: with
    `--set reports.headline=all`, keywords and imports count as well.

    \b
    Examples:
      ci-eval causes night
      ci-eval causes night --other pyright-night --set reports.headline=all
      ci-eval causes pull-request --base night
    """
    screen = Screen()
    done, reports = show.list_causes(workspace, base=base, others=others, output=output, view=view)
    presenting.small(done, output or workspace / "reports", reports, screen)
    if opening:
        show_report(reports, screen)


DURATION = re.compile(r"([1-9]\d*)(s|m|h)")
SECONDS = {"s": 1, "m": 60, "h": 3600}
FOR = "The time limit, such as 90s or 10m. The result is then, as after Ctrl-C, the best version so far."
CASE = "Write the case to this source file as well, marked for `ci-eval cases`."


def _parse_duration(_context: click.Context, _option: click.Parameter, value: str) -> float:
    duration = DURATION.fullmatch(value)
    if not duration:
        raise click.BadParameter(f"{value!r} is not a duration: give a number with s, m or h, such as 2m")
    return float(duration[1]) * SECONDS[duration[2]]


@cli.command("reduce")
@click.argument("workspace", type=FOLDER)
@click.argument("session")
@click.option("--output", type=FILE, metavar="DIR", required=True, help="The folder of the result; new or empty.")
@click.option("--for", "seconds", default="2m", show_default=True, callback=_parse_duration, metavar="TIME", help=FOR)
@click.option("--case", type=FILE, metavar="FILE", help=CASE)
@click.option("--trust", "trusted", is_flag=True, help=TRUST)
def reduce_(workspace: Path, session: str, output: Path, case: Path | None, **options: Any) -> None:
    """Shrink the project around one miss to a few lines, while the engine still shows it.

    SESSION is the beginning of an id, as `ci-eval causes` lists them. Files go first, then members, statements and
    parts of them. Each version must still parse, define the name at the same place, and be missed for the same cause;
    three fresh engines confirm the last one. Write DIR/case, DIR/issue.md for a tracker, and DIR/exchange.txt.

    \b
    Examples:
      ci-eval reduce night 4f0c --output miss
      ci-eval reduce night 4f0c --output miss --case cases/operators.py
    """
    screen = Screen()
    done = reduce_job.reduce(
        workspace, session, output=output, case=case, command=["ci-eval", *sys.argv[1:]], screen=screen, **options
    )
    screen.result(done.title)
    screen.result(
        f"files: {done.files_before:,} → {len(done.result.files):,}; lines: {done.lines_before:,} (of the file with "
        f"the miss) → {done.lines:,}; questions: {done.oracle.questions:,}; ended: {done.ended}"
    )
    screen.result(
        f"seen in {reduce_job.FRESH} of {reduce_job.FRESH} fresh engines; kept the same: {', '.join(done.oracle.kept)}"
    )
    screen.result(f"issue     {output / 'issue.md'}")
    if case:
        screen.result(f"case      {case}")
    screen.result(str(output))


LANGUAGE = "Ask only about cases in this language. Default: all that the engine knows."
SNAPSHOT = "Compare the beginning of each list with this file, and print the differences; they do not break a case."
UPDATE = "Write the snapshot, after the comparison."
OUTPUT = "Write cases.json, cases.md, junit.xml and cases/index.html to this folder."


@cli.command()
@click.argument("folder", type=cli_options.FOLDER)
@click.argument("config", type=FILE, required=False)
@add_named_option("--engine", "engines", metavar="NAME[@VERSION]", help=cli_options.ENGINE)
@click.option("--engine-command", metavar="COMMAND", help=cli_options.COMMAND)
@add_named_option("--engine-like", "engines", metavar="NAME", help=cli_options.LIKE)
@add_named_option("--language", "languages", metavar="L", help=LANGUAGE)
@add_settings_option("--set", "overrides", help=cli_options.OVERRIDE)
@click.option("--snapshot", type=FILE, metavar="FILE", help=SNAPSHOT)
@click.option("--update", is_flag=True, help=UPDATE)
@click.option("--output", type=FILE, metavar="DIR", help=OUTPUT)
def cases(folder: Path, snapshot: Path | None, update: bool, output: Path | None, **values: Any) -> None:
    """Ask an engine about the cases in FOLDER: does it offer what it must, and nothing that it must not?

    A case is a comment below a line of code, with a mark below the character that follows the caret:

    \b
      os.pa
      #    ^ expect: path; rank <= 3; not: print

    The directives: expect, rank, not, silent, module, leaves and text. The exit code is 1 if a case is broken.

    \b
    Examples:
      ci-eval cases cases --engine pyright
      ci-eval cases cases --engine-command './build/server --stdio' --snapshot cases/lists.json
    """
    if update and not snapshot:
        raise click.UsageError("--update writes a snapshot: add --snapshot FILE")
    screen = Screen()
    choices = cli_options.Choices(project=f"path:{folder}", **values)
    chosen = choices.load(screen, ladder=False)
    done, reports = run_cases(
        folder, chosen, language=choices.language, snapshot=snapshot, update=update, output=output, screen=screen
    )
    screen.host.announce(announcing.cases(done, output, reports))
    presenting.small(done, output, reports, screen)
    if done.broken:
        raise GateFailed(f"{done.broken:,} of {len(done.cases):,} cases are broken")


BUILD = "The shell command that builds a checked-out revision. One that fails is skipped."
REPOSITORY = "The repository of the engine. Default: the current folder."
OUTPUT = "The folder of builds, answers and bisect.json. The same command with it resumes a search."


@cli.command("bisect")
@click.argument("good")
@click.argument("bad")
@cli_options.add_choice_options
@click.option("--build", metavar="COMMAND", default="", help=BUILD)
@click.option("--repository", type=cli_options.FOLDER, metavar="DIR", default=".", help=REPOSITORY)
@click.option("--output", type=FILE, metavar="DIR", required=True, help=OUTPUT)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", default=1, show_default=True, help="Processes.")
@click.option("--all", "everything", is_flag=True, help=cli_options.ALL)
def bisect_(choices: cli_options.Choices, good: str, bad: str, output: Path, everything: bool, **options: Any) -> None:
    """Find the versions between GOOD and BAD in which results changed, and say for each what changed.

    GOOD and BAD are revisions of the engine's repository, or releases NAME@VERSION of an engine from PyPI or npm. Both
    are asked all sessions, the versions between only those that changed. Words of --engine-command that begin with `./`
    are files of the checkout. Versions that do not build are skipped; builds and answers are stored.

    \b
    Examples:
      ci-eval bisect v1.2 HEAD --build make --engine-command './server --stdio' --project path:code --output search
      ci-eval bisect ty@0.0.2 ty@0.0.20 --project pypi:flask==3.0.3 --sessions 200 --output search
    """
    screen = Screen()
    config = choices.load_and_limit(screen, everything=everything)
    done = bisect_job.bisect(good, bad, config, output=output, screen=screen, **options)
    if not done.clusters:
        screen.result(f"Nothing changed: {done.sessions:,} sessions have the same ranks in {done.good} and {done.bad}.")
    else:
        screen.result(
            f"{done.changed:,} of {done.sessions:,} sessions changed between {done.good} and {done.bad}; "
            f"the {done.versions - 2:,} versions between were asked {done.questions:,} questions."
        )
        rows = []
        for cluster in done.clusters:
            possible = len(cluster.candidates)
            title = cluster.title if possible == 1 else f"one of the {possible} versions up to {cluster.title}"
            counts = (f"{cluster.worse:,}", f"{cluster.sessions - cluster.worse:,}")
            changes = ", ".join(f"{count} {what}" for what, count in cluster.changes.items())
            rows.append((title, *counts, changes, "; ".join(cluster.examples[:1])))
        screen.table(["version", "worse", "better", "changes", "example"], rows)
    if done.unsteady:
        screen.result(f"Left out: {done.unsteady:,} sessions whose result at the first or last version varies.")
    for name, why in done.skipped.items():
        screen.warn(f"{name} was skipped: {why.splitlines()[0]}")
    screen.result(f"json      {output / 'bisect.json'}")
    screen.result(str(output))
