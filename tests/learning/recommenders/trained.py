"""Recommenders that are trained on few usages, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.training import Trained, parse_options, train

NEW, CREATE, PARAM = (
    Definition(kind="NEW", member="T"),
    Definition(kind="RETURN", member="T.create"),
    Definition(kind="PARAM", member="f", argument=0),
)
UNSEEN, UNKNOWN = Definition(kind="CAST"), Definition()


def usage(calls: str, definition: Definition = UNKNOWN, method: str = "M", type_: str = "T") -> ObjectUsage:
    """`calls`: names with spaces between."""
    return ObjectUsage(type=type_, method=method, definition=definition, calls=tuple(calls.split()))


# The data of science's golden values; T2 is for PBN(30), figure 3 is the paper's.
T = [*[usage("m1 m2", NEW)] * 10, *[usage("m1", CREATE)] * 6, *[usage("m3", PARAM, "N")] * 4]
T2 = [*[usage("a b c", NEW)] * 6, *[usage("a b", NEW)] * 2, *[usage("d", CREATE, "N")] * 2]
FIGURE_3 = [*[usage("m1", CREATE)] * 6, *[usage("m2 m1", CREATE)] * 2, *[usage("m1 mX mY", NEW)] * 4]


def write(path: Path, usages: Iterable[ObjectUsage]) -> Path:
    """A line each."""
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in usages))
    return path


def trained(folder: Path, kind: str, usages: Iterable[ObjectUsage], **options: object) -> Trained:
    """A recommender that went through its file."""
    recommender = recommenders.CATALOG.load(kind)
    source = write(folder / "usages.jsonl", usages)
    train(recommender, [source], folder / f"{kind}.model", parse_options(recommender, options))
    return Trained(folder / f"{kind}.model")


def proposed(model: Trained, query: ObjectUsage, threshold: float | None = None) -> dict[str, float]:
    """Call → its score to four digits, the likeliest first."""
    return {each.call: round(each.score, 4) for each in model.proposals(query, threshold=threshold)}
