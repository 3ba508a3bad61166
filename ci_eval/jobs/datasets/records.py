"""The datasets code-review, from review comments at GitHub, and unit-tests, from projects."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.model.units import NOTHING, amount
from ci_eval.core.statistics.nonparametric import measure_agreement
from ci_eval.fetch import project, sealed
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.messages import Prompt
from ci_eval.plugins.mining import record
from ci_eval.plugins.mining.record import PERMISSIVE, detect_licence
from ci_eval.plugins.mining.reviews import records as reviews_of
from ci_eval.plugins.mining.reviews import verdicts as human
from ci_eval.plugins.mining.reviews.api import ADDRESS, Api
from ci_eval.plugins.mining.reviews.verdicts import Rows
from ci_eval.plugins.mining.unit_tests import languages
from ci_eval.plugins.mining.unit_tests import records as tests_of

PATIENCE_SECONDS = 120.0
"""The time limit for one comment."""
MOST_TOKENS = 200
"""Tokens of a response."""
RECORD_OUTCOMES = {"paired", "kept"}


class Source(msgspec.Struct):
    title: str
    facts: dict[str, str]
    fates: Counter[Any] = msgspec.field(default_factory=Counter)
    """The outcomes of everything that could have become a record."""


def print_outcomes(sources: Sequence[Source], screen: Screen) -> None:
    """Print a table with a column for each source. The outcome of records comes first, then the most frequent ones."""
    total: Counter[str] = sum((source.fates for source in sources), Counter())
    order = sorted(
        (fate for fate in total if total[fate]), key=lambda fate: (fate not in RECORD_OUTCOMES, -total[fate], fate)
    )
    rows = [(name, *(source.facts[name] for source in sources)) for name in (sources[0].facts if sources else ())]
    rows += [(f"- {fate}", *(f"{source.fates[fate]:,}" for source in sources)) for fate in order]
    screen.table(["", *(source.title for source in sources)], rows, numbers=len(sources))


def mine_code_reviews(
    repositories: Sequence[str],
    output: Path,
    selection: reviews_of.Selection,
    *,
    reviews: Sequence[Path],
    any_licence: bool,
    screen: Screen,
    judge: EndpointConfig | None = None,
    prompts: str = "en",
) -> None:
    """Write the records of all repositories, and print the outcome of each comment.

    `reviews`: each reviewer's file of verdicts, to which new records are added. `judge`: the language model that says
    which comments can be understood from the change alone. `prompts`: their language. Raises ConfigError,
    DownloadError, NothingToEvaluate, or EngineFailure if the language model fails.
    """
    answer: human.Answer | None = None
    if judge:
        client = Client(Asking.new(judge), machine.cache_folder(), PATIENCE_SECONDS)
        answer = lambda prompt: client.ask(Prompt(instruction=prompt, max_tokens=MOST_TOKENS)).text  # noqa: E731
    repositories = list(dict.fromkeys(repositories))
    for name in repositories:
        if not reviews_of.REPOSITORY.fullmatch(name):
            raise ConfigError(f"{name!r} is no repository: it must read OWNER/REPOSITORY, as in pallets/click")
    tables = {path: human.read(path) for path in reviews}
    selection = replace(selection, verdicts=human.combine([*tables.values()]))
    api = Api(os.environ.get("GITHUB_TOKEN", ""), os.environ.get("GITHUB_API_URL") or ADDRESS, tell=screen.warn)
    sources, lines, waiting = [], [], []
    for name in repositories:
        repository, mined = reviews_of.Repository(api, name), reviews_of.Mined()
        licence = repository.licence()
        if _may_be_passed_on(name, licence, any_licence=any_licence, screen=screen):
            screen.say(f"Reading the review comments of {name}")
            mined = reviews_of.records(repository, licence, selection, answer)
        sources.append(Source(name, {"licence": licence or "not known"}, mined.outcomes))
        lines += mined.lines
        waiting += [*mined.lines, *mined.undecided]
    print_outcomes(sources, screen)
    for path, rows in tables.items():
        screen.say(f"{human.write(path, rows, waiting):,} records wait for a verdict in {path}")
    _print_agreement({path.stem: rows for path, rows in tables.items()}, screen)
    if not lines:
        raise NothingToEvaluate(f"no comment of {', '.join(repositories)} became a record: the table says why")
    fill = human.fill_fence
    record.write(output, record.spread_prompts(lines, human.PROMPTS[prompts], prompts, selection.seed, fill))
    screen.result(f"{len(lines):,} records")
    screen.line(str(output))


def _print_agreement(tables: Mapping[str, Rows], screen: Screen) -> None:
    """Print a row for each two reviewers with common samples. `tables`: reviewer → rows."""
    rows = []
    for (first, of_first), (second, of_second) in combinations(tables.items(), 2):
        pairs = human.pair_verdicts(of_first, of_second)
        if not pairs:
            continue
        agreement = measure_agreement(pairs)
        differing = sorted((pair, count) for pair, count in agreement.counts.items() if pair[0] != pair[1])
        rows.append((
            f"{first}, {second}",
            f"{agreement.both:,}",
            amount(agreement.equal / agreement.both, "share"),
            NOTHING if agreement.kappa is None else f"{agreement.kappa:.2f}",
            NOTHING if agreement.low is None else f"{agreement.low:.2f} to {agreement.high:.2f}",
            ", ".join(f"{count:,} {'/'.join(pair)}" for pair, count in differing) or NOTHING,
        ))  # fmt: skip
    if rows:
        screen.table(["raters", "both decided", "agree", "kappa", "95 %", "differ"], rows, numbers=4)


def _may_be_passed_on(title: str, licence: str, *, any_licence: bool, screen: Screen) -> bool:
    if licence in PERMISSIVE or any_licence:
        return True
    screen.warn(
        f"{title} is left out: its licence is {licence or 'not known'}, none that lets its code be passed on; "
        "--any-licence takes it all the same"
    )
    return False


def mine_unit_tests(
    specs: Sequence[str],
    language: str,
    output: Path,
    selection: tests_of.Selection,
    *,
    any_licence: bool,
    jobs: int,
    screen: Screen,
    prompts: str = "en",
) -> None:
    """Write the records in the order of `specs`, and print the outcomes of the tests. `prompts`: their language. Raises
    ConfigError, PreparationError, NothingToEvaluate."""
    dialect = languages.CATALOG.load(language)
    sources, lines, troubles = [], [], []
    known: set[str] = set()
    with sealed.care(tell=screen.warn):
        for spec in specs:
            screen.say(f"Preparing {spec}")
            prepared = project.prepare(spec, cache=machine.cache_folder())
            licence = detect_licence(prepared.root)
            if not _may_be_passed_on(spec, licence, any_licence=any_licence, screen=screen):
                continue
            with screen.steps(f"Reading {prepared.info.name}", "files") as steps:
                contents = tests_of.read_project(prepared.root, dialect, jobs=jobs, advance=steps.show)
            origin = tests_of.Origin(info=prepared.info, root=prepared.root, licence=licence)
            mined = tests_of.records(contents, origin, dialect, selection, known)
            facts = {
                "licence": licence or "not known",
                "files": f"{len(contents.paths):,}",
                "not read": f"{len(contents.troubles):,}",
                "with syntax errors": f"{len(contents.broken):,}",
                "functions": f"{len(contents.functions):,}",
                "tests": f"{len(contents.tests):,}",
            }
            sources.append(Source(prepared.info.spec, facts, mined.outcomes))
            lines += [tests_of.translate_kind(line, prompts) for line in mined.lines]
            troubles += [f"{prepared.info.spec}: {path}: {reason}" for path, reason in contents.troubles]
    if not sources:
        raise NothingToEvaluate("no project is left: see the warnings above for why each was left out")
    print_outcomes(sources, screen)
    for trouble in troubles:
        screen.warn(trouble)
    if not lines:
        raise NothingToEvaluate(
            f"no test of {', '.join(specs)} could be paired with a {dialect.name} function: see the table above, and "
            "whether the project's archive holds its tests (a wheel seldom does)"
        )
    fill = partial(tests_of.fill_framework, language=prompts)
    record.write(output, record.spread_prompts(lines, tests_of.PROMPTS[prompts], prompts, selection.seed, fill))
    screen.result(f"{len(lines):,} records")
    screen.line(str(output))
