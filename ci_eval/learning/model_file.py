"""The file of a trained ranker: the trees, the schema of the features they split on, and how they were made."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec.structs import replace

from ci_eval import atomic, stored
from ci_eval.errors import ConfigError, WorkspaceError
from ci_eval.learning.features import NAMES, SCHEMA
from ci_eval.model import Value

MODEL_FORMAT = 1


class Scores(Value, frozen=True, kw_only=True):
    """Over the queries of the validation logs; ties get the middle of their places."""

    queries: int
    top1: float
    top5: float
    mrr: float


class RankerModel(Value, frozen=True, kw_only=True):
    """What `ci-eval train-ranker` writes."""

    format: int = MODEL_FORMAT
    schema: str
    """Of the features; see learning/features.py."""
    features: tuple[str, ...]
    trained_on: tuple[str, ...]
    """Projects."""
    queries: int
    rows: int
    label: str
    seed: int
    trees: int
    before: Scores
    """The order the engine gave."""
    after: Scores
    importance: dict[str, float]
    """Share of the gain of all splits, the largest first."""
    booster: str
    """As LightGBM writes it."""
    digest: str = ""
    """SHA-256 of `booster`: LightGBM ends the process where its text is damaged."""


def lightgbm() -> ModuleType:
    """LightGBM. Raises ConfigError where it is not installed."""
    try:
        return import_module("lightgbm")
    except (ImportError, OSError) as error:
        raise ConfigError(f"ranking by a model needs the extra `ml` ({error}): pip install 'ci-eval[ml]'") from error


def save(model: RankerModel, path: Path) -> None:
    """Replace it in one step."""
    sealed = replace(model, digest=_digest_of_trees(model.booster))
    atomic.write(path, msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n")


def _digest_of_trees(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load(path: Path) -> RankerModel:
    """Raises ConfigError where it is none, or knows other features."""
    try:
        model = stored.decoded(stored.read(path.resolve(), stored.MODEL), RankerModel, path)
    except WorkspaceError as error:
        raise ConfigError(f"{path} is not a model of `ci-eval train-ranker`, which makes one: {error}") from error
    if model.format != MODEL_FORMAT:
        raise ConfigError(f"{path} has format {model.format}, this ci-eval reads {MODEL_FORMAT}: train it again")
    if model.digest != _digest_of_trees(model.booster):
        raise ConfigError(f"{path} is damaged: its trees changed since it was written; fetch or train it again")
    if model.schema != SCHEMA or model.features != NAMES:
        raise ConfigError(
            f"{path} was trained on other features (schema {model.schema}, this ci-eval has {SCHEMA}): train it again"
        )
    return model


def digest_of(path: str | Path | None) -> str:
    """SHA-256 of the file, as hex; empty without one."""
    return hashlib.sha256(stored.read(Path(path).resolve(), stored.MODEL)).hexdigest() if path else ""


def importance_of(names: Sequence[str], gains: Sequence[float]) -> dict[str, float]:
    """Shares, the largest first."""
    total = sum(gains) or 1.0
    shares = ((name, float(gain) / total) for name, gain in zip(names, gains, strict=True))
    return dict(sorted(shares, key=lambda each: (-each[1], each[0])))
