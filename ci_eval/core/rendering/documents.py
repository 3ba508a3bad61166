"""The files of results for scripts: which fields they have, and their JSON schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ci_eval.core.model import FORMAT, Comparison, Difference, Evaluation, FilterFigures, PairCounts, Side

FACTS = (
    "title engine revision project completionType client language seed conditions started population noise",
    "prompts queries gates unfinished",
)
"""The fields of an evaluation that are in the file, and those of them that it has only if there is something to say."""
FIGURES = "sessions planned undecided statuses metrics byFile kinds ranks files"
COMPARED = "paired population onlyBase onlyNew changedText files declared wins losses headline"
COUNTED = "sessions wins losses"
LISTED = ("parts transitions regressions improvements warnings conditions gates", "failures detection")
DRAFT = "https://json-schema.org/draft/2020-12/schema"
WHERE = "#/$defs/{name}"


def result_schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of `metrics.json` or of `comparison.json`."""
    kinds = (Evaluation, FilterFigures, Comparison, PairCounts, Side, Difference)
    _, known = msgspec.json.schema_components(kinds, ref_template=WHERE)

    def pick(kind: str, names: str, unless_empty: str, more: Mapping[str, object]) -> dict[str, Any]:
        properties = known[kind]["properties"]
        fields = {field: properties[field] for field in (*names.split(), *unless_empty.split())}
        return {"type": "object", "properties": {**fields, **more}, "required": [*names.split(), *more]}

    def table(of: object) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": of}

    if name == "metrics":
        more = {
            "headline": {"type": "string"},
            "environment": table({"type": "string"}),
            "filters": table(pick("FilterFigures", FIGURES, "", {})),
        }
        whole = pick(
            "Evaluation", "", "", {"evaluations": {"type": "array", "items": pick("Evaluation", *FACTS, more)}}
        )
    else:
        side = {"$ref": WHERE.format(name="Side")}
        metrics = table({"$ref": WHERE.format(name="Difference")})
        more = {
            "base": {"type": "string"},
            "new": {"type": "string"},
            "sides": {"type": "object", "properties": {"base": side, "new": side}, "required": ["base", "new"]},
            "filters": table(pick("PairCounts", COUNTED, "", {"metrics": metrics})),
        }
        names, unless_empty = LISTED
        whole = pick("Comparison", f"{COMPARED} {names} trend", unless_empty, more)
    whole["properties"]["format"] = {"const": FORMAT}
    return document(name, whole, known)


def document(title: str, root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema (draft 2020-12) as a whole document."""
    return {"$schema": DRAFT, "title": f"ci-eval {title}", **root, "$defs": definitions}
