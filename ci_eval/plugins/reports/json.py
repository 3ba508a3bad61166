"""The file `metrics.json`: every figure of one evaluation for scripts, in the documented format 1."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Evaluation, FilterFigures
from ci_eval.core.rendering.contract import Reporter, StoredSessions


class Json:
    """A reporter that writes metrics.json; a figure that does not exist is null."""

    name = "json"

    def write(self, evaluation: Evaluation, sources: StoredSessions, folder: Path) -> Path:  # noqa: ARG002
        """Write metrics.json below `folder`; see `Reporter.write`."""
        report = {"format": FORMAT, "evaluations": [_evaluation(evaluation)]}
        # msgspec writes NaN and infinities as null.
        text = msgspec.json.format(msgspec.json.encode(report), indent=2)
        return atomic.write(folder / "metrics.json", text + b"\n")


def _evaluation(evaluation: Evaluation) -> dict[str, object]:
    return {
        "title": evaluation.title,
        "engine": evaluation.engine,
        "revision": evaluation.revision,
        "project": evaluation.project,
        "completionType": evaluation.completion_type,
        "client": evaluation.client,
        "language": evaluation.language,
        "seed": evaluation.seed,
        "conditions": evaluation.conditions,
        "started": evaluation.started,
        "population": evaluation.population,
        "noise": evaluation.noise,
        **({"prompts": evaluation.prompts} if evaluation.prompts else {}),
        **({"queries": evaluation.queries} if evaluation.queries else {}),
        **({"gates": evaluation.gates} if evaluation.gates else {}),
        **({"unfinished": evaluation.unfinished} if evaluation.unfinished is not None else {}),
        "headline": evaluation.headline,
        "environment": dict(sorted(evaluation.environment.items())),
        "filters": {name: _figures(figures) for name, figures in evaluation.filters.items()},
    }


def _figures(figures: FilterFigures) -> dict[str, object]:
    return {
        "sessions": figures.sessions,
        "planned": figures.planned,
        "undecided": figures.undecided,
        "statuses": figures.statuses,
        "metrics": figures.metrics,
        "byFile": figures.by_file,
        "kinds": dict(sorted(figures.kinds.items())),
        "ranks": figures.ranks,
        # Shards finish in any order. Sorted files let two reports differ only in lines whose figures differ.
        "files": dict(sorted(figures.files.items())),
    }


REPORTER: Reporter = Json()
