"""The commands that make datasets, and mine object usages and their histories."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ci_eval.ci import Screen
from ci_eval.cli.group import COUNT, FILE, cli
from ci_eval.cli.options import SPECS
from ci_eval.core import machine
from ci_eval.core.config import load
from ci_eval.jobs.datasets import records
from ci_eval.jobs.datasets import usages as mining
from ci_eval.plugins.mining.reviews import records as review_records
from ci_eval.plugins.mining.unit_tests import languages
from ci_eval.plugins.mining.unit_tests.records import Selection
from ci_eval.plugins.mining.usages import languages as usage_languages
from ci_eval.plugins.mining.usages import streams


@cli.group("dataset")
def dataset() -> None:
    """Build datasets for tasks such as unit-tests and code-review."""


_prompts = click.option(
    "--prompts",
    type=click.Choice(["en", "ru"]),
    default="en",
    show_default=True,
    help="The language of the ten prompts that are spread over the records, one for each, evenly.",
)


_splits = click.option(
    "--splits",
    type=click.IntRange(0, 100),
    nargs=3,
    default=(0, 0, 100),
    show_default=True,
    metavar="TRAIN VALIDATION TEST",
    help="Per cent of the repositories or projects; `meta.split` of a record says which it is in.",
)


CONFIDENCE = "The least: high where the function's name is in the test's and the test calls it."


@dataset.command("unit-tests", epilog=SPECS)
@click.argument("projects", metavar="PROJECT...", nargs=-1, required=True)
@click.option("--language", type=click.Choice(languages.names()), required=True)
@click.option("--output", type=FILE, metavar="FILE.jsonl", required=True)
@click.option("--limit", type=COUNT, default=200, show_default=True, help="Records of one project.")
@click.option("--seed", default=0, show_default=True, help="Which are drawn where a project has more.")
@click.option("--confidence", type=click.Choice(["low", "high"]), default="low", show_default=True, help=CONFIDENCE)
@_splits
@_prompts
@click.option("--any-licence", is_flag=True, help="Also projects whose licence is not known to let code be passed on.")
@click.option("--jobs", type=COUNT, metavar="N", default=machine.cores, help="Worker processes.")
def unit_tests(
    projects: tuple[str, ...],
    language: str,
    output: Path,
    limit: int,
    seed: int,
    confidence: str,
    splits: tuple[int, int, int],
    **options: Any,
) -> None:
    """Functions and the tests that people wrote for them, from the PROJECTs, which must hold their tests.

    \b
    Examples:
      ci-eval dataset unit-tests pypi:networkx==3.3 --language python --output tests.jsonl
      ci-eval dataset unit-tests path:. go:github.com/spf13/cobra@v1.8.1 --language go --output tests.jsonl
    """
    _check_splits(splits)
    selection = Selection(limit=limit, seed=seed, only_high=confidence == "high", shares=splits)
    records.mine_unit_tests(projects, language, output, selection, screen=Screen(), **options)


def _check_splits(splits: tuple[int, int, int]) -> None:
    if sum(splits) != 100:
        raise click.UsageError("--splits must add up to 100, as in --splits 80 10 10")


REVIEWED = sorted({syntax.language for syntax in review_records.LANGUAGES.values()})


COMMENT_LANGUAGE = "Only comments in that language. Default: any."
REVIEW = (
    "Records that people accept or reject in this table are kept or left out; new ones are added to it. Once for each "
    "reviewer: all must accept, and the command prints how far they agree."
)
JUDGE = "A configuration whose `judge:` is asked which comments can be understood from the change alone."


@dataset.command("code-review")
@click.option(
    "--github", "repositories", metavar="OWNER/REPOSITORY", multiple=True, required=True, help="May be repeated."
)
@click.option("--output", type=FILE, metavar="FILE.jsonl", required=True)
@click.option(
    "--language", "languages_", type=click.Choice(REVIEWED), multiple=True, help="May be repeated. Default: all."
)
@click.option(
    "--comments",
    "sources",
    type=click.Choice(["line", "pull-request", "commit"]),
    multiple=True,
    default=("line",),
    show_default=True,
    help="Comments on lines of pull requests, on whole pull requests, or on commits and their lines. May be repeated.",
)
@click.option("--comment-language", type=click.Choice(sorted(review_records.NAMES)), help=COMMENT_LANGUAGE)
@click.option("--limit", type=COUNT, default=200, show_default=True, help="Records of one repository.")
@click.option("--seed", default=0, show_default=True, help="Which are drawn where a repository has more.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only comments written or changed since that day.")
@click.option("--review", "reviews", type=FILE, metavar="FILE.csv", multiple=True, help=REVIEW)
@click.option("--judge", type=FILE, metavar="CONFIG", help=JUDGE)
@click.option("--only-accepted", is_flag=True, help="Only what is accepted in --review.")
@_splits
@_prompts
@click.option(
    "--any-licence", is_flag=True, help="Also repositories whose licence is not known to let code be passed on."
)
def code_review(
    repositories: tuple[str, ...],
    output: Path,
    languages_: tuple[str, ...],
    sources: tuple[review_records.Source, ...],
    comment_language: str | None,
    limit: int,
    seed: int,
    since: datetime | None,
    judge: Path | None,
    only_accepted: bool,
    splits: tuple[int, int, int],
    **options: Any,
) -> None:
    """Changes and the comments that reviewers wrote on them, from pull requests at GitHub.

    Asks api.github.com, or GITHUB_API_URL, with the token in GITHUB_TOKEN: without one it allows 60 requests an hour,
    which a record takes three of at most.

    \b
    Examples:
      ci-eval dataset code-review --github pallets/click --github spf13/cobra --output reviews.jsonl
      ci-eval dataset code-review --github pallets/click --review ann.csv --review bo.csv --output r.jsonl
    """
    _check_splits(splits)
    if only_accepted and not options["reviews"]:
        raise click.UsageError("--only-accepted needs --review FILE.csv, in which people accept")
    selection = review_records.Selection(
        languages=frozenset(languages_ or REVIEWED),
        sources=tuple(dict.fromkeys(sources)),
        comment_language=comment_language or "",
        limit=limit,
        seed=seed,
        since=since.strftime("%Y-%m-%dT%H:%M:%SZ") if since else "",
        shares=splits,
        only_accepted=only_accepted,
    )
    model = load(judge).config.judge if judge else None
    if judge and model is None:
        raise click.UsageError(f"--judge {judge} has no `judge:`, which says what model is asked")
    records.mine_code_reviews(repositories, output, selection, screen=Screen(), judge=model, **options)


SOURCES = ("projects", "git", "recordings")


def _recordings(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    for value in values:
        name, _, path = value.partition("=")
        if name not in streams.names() or not path:
            raise click.BadParameter(f"{value!r} is not FORMAT=PATH; formats are {', '.join(streams.names())}")
    return tuple((name, Path(path)) for name, _, path in (value.partition("=") for value in values))


TEXTS = "--git, --stream: also the texts and where the objects are in them, which completion engines are asked with."


@dataset.command("usages", epilog=SPECS)
@click.option("--project", "projects", metavar="SPEC", multiple=True, help="Usages of a project. May be repeated.")
@click.option(
    "--git", metavar="URL_OR_FOLDER[@REVISION]", multiple=True, help="Histories in a repository. May be repeated."
)
@click.option(
    "--stream",
    "recordings",
    metavar="FORMAT=PATH",
    multiple=True,
    callback=_recordings,
    help=f"Histories in recorded editing. Formats: {', '.join(streams.names())}. May be repeated.",
)
@click.option("--language", type=click.Choice(usage_languages.names()), default=None, help="Needed except for KaVE.")
@click.option("--output", type=FILE, metavar="FILE.jsonl", required=True)
@click.option("--own-types", is_flag=True, help="Also usages of types that the project itself defines.")
@click.option("--infer", is_flag=True, help="Ask jedi where local rules do not tell a type: slow. Python only.")
@click.option("--texts", is_flag=True, help=TEXTS)
@click.option("--jobs", type=COUNT, metavar="N", default=machine.cores, help="Worker processes.")
def usages(output: Path, language: str | None, **options: Any) -> None:
    """Object usages of code (--project), or how they came to be (--git, --stream).

    A usage is what one method calls on the objects of one type; recommenders are trained on them. A history is a usage
    over time; recommenders are evaluated on them.

    \b
    Examples:
      ci-eval dataset usages --project pypi:requests==2.32.3 --language python --output usages.jsonl
      ci-eval dataset usages --git . --language python --output histories.jsonl
      ci-eval dataset usages --stream neutral=recording.jsonl --language python --output histories.jsonl
      ci-eval dataset usages --stream kave=Events --output histories.jsonl
    """
    sources = {name: options.pop(name) for name in SOURCES}
    chosen = [name for name in SOURCES if sources[name]]
    if len(chosen) != 1:
        raise click.UsageError("give one of --project, --git and --stream")
    if options["texts"] and chosen[0] not in {"git", "recordings"}:
        raise click.UsageError("--texts stores what files were like over time: give it with --git or --stream")
    makers: dict[str, Callable[..., None]] = {
        "projects": mining.mine_projects,
        "git": mining.mine_git,
        "recordings": mining.mine_streams,
    }
    makers[chosen[0]](sources[chosen[0]], output, mining.Choices(language=language or "", **options), Screen())
