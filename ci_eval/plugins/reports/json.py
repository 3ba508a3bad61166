"""The files `metrics.json`, `comparison.json`, `overview.json`, `sweep.json`, `suite.json`, `causes.json` and
`cases.json`. They hold all values of a result for scripts, in the documented format 1."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.model import FORMAT, Comparison, Evaluation
from ci_eval.rendering.reporters import COMPARED, COUNTED, FACTS, FIGURES, LISTED, Reporter, Result


class Json:
    """Writes a JSON file. A missing value is null."""

    name = "json"
    results = get_args(Result)

    def write(self, result: Result, sources: object, folder: Path) -> Path:  # noqa: ARG002
        values: dict[str, object]
        if isinstance(result, Evaluation):
            name, filters = "metrics", {of: _pick(figures, FIGURES) for of, figures in result.filters.items()}
            for of, figures in result.filters.items():
                # Shards finish in any order. With sorted files, two reports differ only in lines whose values differ.
                filters[of] |= {
                    "kinds": dict(sorted(figures.kinds.items())),
                    "files": dict(sorted(figures.files.items())),
                }
            facts = {"headline": result.headline, "environment": dict(sorted(result.environment.items()))}
            values = {"evaluations": [{**_pick(result, *FACTS), **facts, "filters": filters}]}
        elif isinstance(result, Comparison):
            name = "comparison"
            values = {
                "base": result.base.title,
                "new": result.new.title,
                "sides": {"base": result.base, "new": result.new},
                **_pick(result, COMPARED),
                "filters": {
                    of: {**_pick(result.counts[of], COUNTED), "metrics": metrics}
                    for of, metrics in result.filters.items()
                },
                **_pick(result, *LISTED),
                "trend": result.trend,
            }
        else:
            name, values = type(result).__name__.lower(), msgspec.to_builtins(result)
        # msgspec writes NaN and infinities as null.
        return atomic.write_json(folder / f"{name}.json", {"format": FORMAT, **values})


def _pick(result: msgspec.Struct, names: str, unless_empty: str = "") -> dict[str, object]:
    """Return fields by their JSON names, in this order; those in `unless_empty` only if they are not empty."""
    known = {field.encode_name: getattr(result, field.name) for field in msgspec.structs.fields(result)}
    picked = {name: known[name] for name in names.split()}
    return picked | {name: known[name] for name in unless_empty.split() if known[name] not in (None, ())}


REPORTER: Reporter = Json()
