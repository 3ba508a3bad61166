"""The dataset code-review, built from review comments at GitHub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.jobs.datasets import telling
from ci_eval.jobs.models import agreement
from ci_eval.plugins.adapters.endpoints.client import Asking, Client
from ci_eval.plugins.adapters.endpoints.messages import Prompt
from ci_eval.plugins.mining import record
from ci_eval.plugins.mining.record import PERMISSIVE
from ci_eval.plugins.mining.reviews import verdicts as human
from ci_eval.plugins.mining.reviews.api import ADDRESS, Api
from ci_eval.plugins.mining.reviews.records import REPOSITORY, Mined, Repository, Selection, records
from ci_eval.plugins.mining.reviews.verdicts import PROMPTS, Answer, fill_fence

PATIENCE = 120.0
"""Seconds for one comment."""
LONGEST = 200
"""The most tokens of a response."""


def mine(
    repositories: Sequence[str],
    output: Path,
    selection: Selection,
    *,
    reviews: Sequence[Path],
    any_licence: bool,
    screen: Screen,
    judge: EndpointConfig | None = None,
    prompts: str = "en",
) -> None:
    """Write the records of all repositories, and print the outcome of each comment.

    `reviews`: a file of verdicts for each reviewer; new records are added to all. `judge`: is asked which comments can
    be understood from the change alone. `prompts`: their language. Raises ConfigError, DownloadError,
    NothingToEvaluate, or EngineFailure if the language model cannot be asked.
    """
    answer: Answer | None = None
    if judge:
        client = Client(Asking.new(judge), machine.cache_folder(), PATIENCE)
        answer = lambda prompt: client.ask(Prompt(instruction=prompt, max_tokens=LONGEST)).text  # noqa: E731
    repositories = list(dict.fromkeys(repositories))
    for name in repositories:
        if not REPOSITORY.fullmatch(name):
            raise ConfigError(f"{name!r} is no repository: it must read OWNER/REPOSITORY, as in pallets/click")
    tables = {path: human.read(path) for path in reviews}
    selection = replace(selection, verdicts=human.combine([*tables.values()]))
    api = Api(os.environ.get("GITHUB_TOKEN", ""), os.environ.get("GITHUB_API_URL") or ADDRESS, tell=screen.warn)
    results = {
        name: _mine_repository(Repository(api, name), selection, answer, any_licence=any_licence, screen=screen)
        for name in repositories
    }
    licences = [licence or "not known" for licence, _ in results.values()]
    mined = [result for _, result in results.values()]
    telling.table(list(results), {"licence": licences}, [result.fates for result in mined], screen)
    lines = [line for result in mined for line in result.lines]
    waiting = [line for result in mined for line in (*result.lines, *result.undecided)]
    for path, rows in tables.items():
        screen.say(f"{human.write(path, rows, waiting):,} records wait for a verdict in {path}")
    agreement.tell({path.stem: rows for path, rows in tables.items()}, screen)
    if not lines:
        raise NothingToEvaluate(f"no comment of {', '.join(repositories)} became a record: the table says why")
    record.write(output, record.spread_prompts(lines, PROMPTS[prompts], prompts, selection.seed, fill_fence))
    screen.result(f"{len(lines):,} records")
    screen.line(str(output))


def _mine_repository(
    repository: Repository, selection: Selection, answer: Answer | None, *, any_licence: bool, screen: Screen
) -> tuple[str, Mined]:
    licence = repository.licence()
    if licence not in PERMISSIVE and not any_licence:
        screen.warn(
            f"{repository.name} is left out: its licence is {licence or 'not known'}, none that lets its code be "
            "passed on; --any-licence takes it all the same"
        )
        return licence, Mined()
    screen.say(f"Reading the review comments of {repository.name}")
    return licence, records(repository, licence, selection, answer)
