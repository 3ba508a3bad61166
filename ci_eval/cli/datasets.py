"""The commands that build datasets, object usages and their histories."""

from __future__ import annotations

from collections.abc import Callable
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


PROMPTS = "The language of the prompts. Each record gets one of ten, all equally often."
_prompts = click.option("--prompts", type=click.Choice(["en", "ru"]), default="en", show_default=True, help=PROMPTS)


def _check_splits(
    _context: click.Context, _option: click.Parameter, splits: tuple[int, int, int]
) -> tuple[int, int, int]:
    if sum(splits) != 100:
        raise click.BadParameter("must add up to 100, as in --splits 80 10 10")
    return splits


_splits = click.option(
    "--splits",
    "shares",
    type=click.IntRange(0, 100),
    nargs=3,
    default=(0, 0, 100),
    show_default=True,
    metavar="TRAIN VALIDATION TEST",
    callback=_check_splits,
    help="Per cent of the repositories or projects; `meta.split` of a record says which it is in.",
)


CONFIDENCE = "high: only tests that call the function and have its name in theirs."


@dataset.command("unit-tests", epilog=SPECS)
@click.argument("projects", metavar="PROJECT...", nargs=-1, required=True)
@click.option("--language", type=click.Choice(languages.names()), required=True)
@click.option("--output", type=FILE, metavar="FILE.jsonl", required=True)
@click.option("--limit", type=COUNT, default=200, show_default=True, help="The most records of one project.")
@click.option("--seed", default=0, show_default=True, help="The seed of the sample if a project has more.")
@click.option("--confidence", type=click.Choice(["low", "high"]), default="low", show_default=True, help=CONFIDENCE)
@_splits
@_prompts
@click.option("--any-licence", is_flag=True, help="Include projects without a known permissive licence.")
@click.option("--jobs", type=COUNT, metavar="N", default=machine.cores, help="Worker processes.")
def unit_tests(
    projects: tuple[str, ...],
    language: str,
    output: Path,
    limit: int,
    seed: int,
    confidence: str,
    shares: tuple[int, int, int],
    **options: Any,
) -> None:
    """Build pairs of a function and its test from PROJECTs that contain their tests.

    \b
    Examples:
      ci-eval dataset unit-tests pypi:networkx==3.3 --language python --output tests.jsonl
    """
    selection = Selection(limit=limit, seed=seed, only_high=confidence == "high", shares=shares)
    records.mine_unit_tests(projects, language, output, selection, screen=Screen(), **options)


REVIEWED = sorted({syntax.language for syntax in review_records.LANGUAGES.values()})


REVIEW = (
    "A table in which a reviewer accepts or rejects records; new records are added to it. May be repeated, for each "
    "reviewer: a record stays if all accept it, and their agreement is printed."
)
JUDGE = "A configuration with `judge:`, a language model that rejects comments which the change alone does not explain."


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
@click.option("--limit", type=COUNT, default=200, show_default=True, help="The most records of one repository.")
@click.option("--seed", default=0, show_default=True, help="The seed of the sample if a repository has more.")
@click.option("--review", "reviews", type=FILE, metavar="FILE.csv", multiple=True, help=REVIEW)
@click.option("--judge", type=FILE, metavar="CONFIG", help=JUDGE)
@click.option("--only-accepted", is_flag=True, help="Leave out records that --review does not accept.")
@_splits
@_prompts
@click.option("--any-licence", is_flag=True, help="Include repositories without a known permissive licence.")
def code_review(
    repositories: tuple[str, ...],
    output: Path,
    languages_: tuple[str, ...],
    sources: tuple[review_records.Source, ...],
    limit: int,
    seed: int,
    shares: tuple[int, int, int],
    judge: Path | None,
    only_accepted: bool,
    **options: Any,
) -> None:
    """Build pairs of a change and a reviewer's comment on it, from pull requests at GitHub.

    Ask api.github.com (or GITHUB_API_URL) with the token in GITHUB_TOKEN. Without a token GitHub allows 60 requests an
    hour; a record needs up to three.

    \b
    Examples:
      ci-eval dataset code-review --github pallets/click --github spf13/cobra --output reviews.jsonl
    """
    if only_accepted and not options["reviews"]:
        raise click.UsageError("--only-accepted needs --review FILE.csv")
    selection = review_records.Selection(
        languages=frozenset(languages_ or REVIEWED),
        sources=tuple(dict.fromkeys(sources)),
        limit=limit,
        seed=seed,
        shares=shares,
        only_accepted=only_accepted,
    )
    model = load(judge).config.judge if judge else None
    if judge and model is None:
        raise click.UsageError(f"--judge {judge}: this configuration has no `judge:`")
    records.mine_code_reviews(repositories, output, selection, screen=Screen(), judge=model, **options)


def _recordings(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    for value in values:
        name, _, path = value.partition("=")
        if name not in streams.names() or not path:
            raise click.BadParameter(f"{value!r} is not FORMAT=PATH; formats are {', '.join(streams.names())}")
    return tuple((name, Path(path)) for name, _, path in (value.partition("=") for value in values))


STREAM = f"Histories in recorded editing. Formats: {', '.join(streams.names())}. May be repeated."
TEXTS = "With --git or --stream: also store the texts and the positions of the objects, which completion engines need."


@dataset.command("usages", epilog=SPECS)
@click.option("--project", "projects", metavar="SPEC", multiple=True, help="Usages of a project. May be repeated.")
@click.option(
    "--git", metavar="URL_OR_FOLDER[@REVISION]", multiple=True, help="Histories in a repository. May be repeated."
)
@click.option("--stream", "recordings", metavar="FORMAT=PATH", multiple=True, callback=_recordings, help=STREAM)
@click.option("--language", type=click.Choice(usage_languages.names()), default=None, help="Required, except for KaVE.")
@click.option("--output", type=FILE, metavar="FILE.jsonl", required=True)
@click.option("--own-types", is_flag=True, help="Also usages of types that the project itself defines.")
@click.option("--infer", is_flag=True, help="Ask jedi where local rules do not tell a type: slow. Python only.")
@click.option("--texts", is_flag=True, help=TEXTS)
@click.option("--jobs", type=COUNT, metavar="N", default=machine.cores, help="Worker processes.")
def usages(output: Path, language: str | None, **options: Any) -> None:
    """Build object usages of code (--project), or their histories (--git, --stream).

    A usage is what one method calls on the objects of one type; recommenders are trained on them. A history is a usage
    over time; recommenders are evaluated on them.

    \b
    Examples:
      ci-eval dataset usages --project pypi:requests==2.32.3 --language python --output usages.jsonl
      ci-eval dataset usages --git . --language python --output histories.jsonl
      ci-eval dataset usages --stream neutral=recording.jsonl --language python --output histories.jsonl
    """
    makers: dict[str, Callable[..., None]] = {
        "projects": mining.mine_projects,
        "git": mining.mine_git,
        "recordings": mining.mine_streams,
    }
    sources = {name: options.pop(name) for name in makers}
    chosen = [name for name in makers if sources[name]]
    if len(chosen) != 1:
        raise click.UsageError("give one of --project, --git and --stream")
    if options["texts"] and chosen[0] not in {"git", "recordings"}:
        raise click.UsageError("--texts stores versions of files: give it with --git or --stream")
    makers[chosen[0]](sources[chosen[0]], output, mining.Choices(language=language or "", **options), Screen())
