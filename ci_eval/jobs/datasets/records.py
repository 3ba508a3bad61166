"""The jobs that make the datasets code-review (from review comments at GitHub) and unit-tests (from projects)."""

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
"""The time limit for one question to the language model that judges comments."""
MOST_TOKENS = 200
"""The maximum number of tokens in a response of that language model."""
RECORD_OUTCOMES = {"paired", "kept"}


class Source(msgspec.Struct):
    title: str
    facts: dict[str, str]
    outcomes: Counter[Any] = msgspec.field(default_factory=Counter)
    """The number of candidates by outcome: a record, or a reason why there is none."""


def print_outcomes(sources: Sequence[Source], screen: Screen) -> None:
    """Print a table with a column for each source. Records come first, then the most frequent other outcomes."""
    total: Counter[str] = sum((source.outcomes for source in sources), Counter())
    order = sorted(
        (outcome for outcome in total if total[outcome]),
        key=lambda outcome: (outcome not in RECORD_OUTCOMES, -total[outcome], outcome),
    )
    rows = [(name, *(source.facts[name] for source in sources)) for name in (sources[0].facts if sources else ())]
    rows += [(f"- {outcome}", *(f"{source.outcomes[outcome]:,}" for source in sources)) for outcome in order]
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
    """Write the records of all repositories, and print how many comments had each outcome.

    `reviews` are the reviewers' files of verdicts; new records are added to them. `judge` is the language model that
    says which comments can be understood from the change alone. `prompts` is the language of the prompts. Raises
    ConfigError, DownloadError, NothingToEvaluate, or EngineFailure if the language model fails.
    """
    answer: human.Answer | None = None
    if judge:
        client = Client(Asking.new(judge), machine.cache_folder(), PATIENCE_SECONDS)
        answer = lambda prompt: client.ask(Prompt(instruction=prompt, max_tokens=MOST_TOKENS)).text  # noqa: E731
    repositories = list(dict.fromkeys(repositories))
    for name in repositories:
        if not reviews_of.REPOSITORY.fullmatch(name):
            raise ConfigError(f"{name!r} is not a repository: write OWNER/REPOSITORY, as in pallets/click")
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
    """Print a row for each pair of reviewers who judged the same samples. `tables` maps reviewers to rows."""
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
        f"{title} is left out: its licence is {licence or 'not known'}, and only code under permissive "
        "licences is passed on; --any-licence includes it"
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
    """Write the records in the order of `specs`, and print how many tests had each outcome. `prompts` is the language
    of the prompts. Raises ConfigError, PreparationError, NothingToEvaluate."""
    dialect = languages.CATALOG.load(language)
    sources, lines, troubles = [], [], []
    known: set[str] = set()
    with sealed.care(report=screen.warn):
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
            f"no test of {', '.join(specs)} could be paired with a {dialect.name} function: see the table above. "
            "Check that the project's archive holds tests, which wheels seldom do"
        )
    fill = partial(tests_of.fill_framework, language=prompts)
    record.write(output, record.spread_prompts(lines, tests_of.PROMPTS[prompts], prompts, selection.seed, fill))
    screen.result(f"{len(lines):,} records")
    screen.line(str(output))
