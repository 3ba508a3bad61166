"""The files `metrics.json`, `comparison.json`, `overview.json`, `sweep.json` and `suite.json`: every figure of a result
for scripts, in the documented format 1."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Comparison, Evaluation, FilterFigures, Overview, Suite, Sweep
from ci_eval.core.rendering.contract import Reporter


class Json:
    """A reporter that writes JSON; a figure that does not exist is null."""

    name = "json"
    results = (Evaluation, Comparison, Overview, Sweep, Suite)

    def write(self, result: Evaluation | Comparison | Overview | Sweep | Suite, sources: object, folder: Path) -> Path:  # noqa: ARG002
        """Write the file below `folder`; see `Reporter.write`."""
        values: dict[str, object]
        if isinstance(result, Evaluation):
            name, values = "metrics", {"evaluations": [_evaluation(result)]}
        elif isinstance(result, Comparison):
            name, values = "comparison", _comparison(result)
        else:
            name, values = type(result).__name__.lower(), msgspec.to_builtins(result)
        # msgspec writes NaN and infinities as null.
        text = msgspec.json.format(msgspec.json.encode({"format": FORMAT, **values}), indent=2)
        return atomic.write(folder / f"{name}.json", text + b"\n")


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


def _comparison(result: Comparison) -> dict[str, object]:
    return {
        "base": result.base.title,
        "new": result.new.title,
        "sides": {"base": result.base, "new": result.new},
        "paired": result.paired,
        "population": result.population,
        "onlyBase": result.only_base,
        "onlyNew": result.only_new,
        "changedText": result.changed_text,
        "files": result.files,
        "declared": result.declared,
        "wins": result.wins,
        "losses": result.losses,
        "headline": result.headline,
        "filters": {
            name: {"sessions": counts.sessions, "wins": counts.wins, "losses": counts.losses, "metrics": metrics}
            for name, metrics in result.filters.items()
            for counts in [result.counts[name]]
        },
        "parts": result.parts,
        "transitions": result.transitions,
        "regressions": result.regressions,
        "improvements": result.improvements,
        "warnings": result.warnings,
        "conditions": result.conditions,
        "gates": result.gates,
        **({"failures": result.failures} if result.failures else {}),
        **({"detection": result.detection} if result.detection else {}),
        "trend": result.trend,
    }


REPORTER: Reporter = Json()
