"""The file of a trained ranker: its trees, the features that they look at, and how they were trained."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.logs.features import NAMES, SCHEMA
from ci_eval.core.model import Value

MODEL_FORMAT = 1
Form = Literal["lightgbm", "onnx"]


class Scores(Value, frozen=True, kw_only=True):
    """The quality of an order of the expected texts of logs. Equal scores share the mean of their ranks."""

    queries: int
    """Number of lookups."""
    top1: float
    """Share of the lookups whose expected text is first."""
    top5: float
    """Share of them in which it is among the first five."""
    mrr: float
    """Mean reciprocal rank."""


class BothScores(Value, frozen=True, kw_only=True):
    """The scores of the engine's own order, and of the ranker's."""

    before: Scores
    after: Scores


class RankerModel(Value, frozen=True, kw_only=True):
    """A trained ranker, as `ci-eval train-ranker` writes it, or one from elsewhere, of which only the features and the
    scores are known."""

    format: int = MODEL_FORMAT
    schema: str
    """Digest of the features; see learning/features.py."""
    features: tuple[str, ...]
    """Names of its columns, in order."""
    trained_on: tuple[str, ...]
    """Names of the projects."""
    queries: int
    """Number of lookups trained on."""
    rows: int
    """Number of suggestions trained on."""
    label: str
    seed: int
    trees: int
    before: Scores
    """Scores of the engine's own order, on the validation logs."""
    after: Scores
    """Scores of the ranker's order, on the same logs."""
    tested: BothScores | None = None
    """Scores on the logs for the test, which influence neither the trees nor their number. None if there are none."""
    kinds: dict[str, BothScores] = {}
    """Kind of the expected suggestion, as the logs name it → scores over these lookups, the most frequent kind first.
    Empty if the logs do not have our kinds."""
    importance: dict[str, float]
    """Feature → its share of the gain of all splits, the largest first."""
    booster: str
    """The trees, as LightGBM writes them; of ONNX the file in base64."""
    form: Form = "lightgbm"
    digest: str = ""
    """SHA-256 of `booster`, checked before it is used: damaged text makes LightGBM end the process."""


def lightgbm() -> ModuleType:
    """Return the LightGBM module. Raises ConfigError if it is not installed, or its library cannot be loaded."""
    try:
        return import_module("lightgbm")
    except OSError as error:
        # Its wheel has no OpenMP; slim images lack it.
        hint = "apt-get install libgomp1 (Debian, Ubuntu), dnf install libgomp (Fedora), brew install libomp (macOS)"
        raise ConfigError(f"LightGBM is installed, but a library of the system is missing ({error}): {hint}") from error
    except ImportError as error:
        raise ConfigError(
            f"ranking by a model needs the extra `ml` ({error}): pip install '.[ml]' in a checkout"
        ) from error


def save(model: RankerModel, path: Path) -> None:
    """Write the model; a file that is there is replaced in one step."""
    sealed = replace(model, digest=_digest_of_trees(model.booster))
    atomic.write(path, msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n")


def _digest_of_trees(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load(path: Path) -> RankerModel:
    """Return the ranker in a file. Raises ConfigError if it is none, is damaged, or was trained on other features."""
    try:
        model = stored.decode_json(stored.read(path.resolve(), stored.MODEL), RankerModel, path)
    except WorkspaceError as error:
        raise ConfigError(
            f"{path} is not a model of `ci-eval train-ranker` or `import-ranker`, which make one: {error}"
        ) from error
    if model.format != MODEL_FORMAT:
        raise ConfigError(f"{path} has format {model.format}, this ci-eval reads {MODEL_FORMAT}: train it again")
    if model.digest != _digest_of_trees(model.booster):
        raise ConfigError(f"{path} is damaged: its trees changed since it was written; fetch or train it again")
    if model.schema != SCHEMA or not set(model.features) <= set(NAMES):
        raise ConfigError(
            f"{path} was trained on other features (schema {model.schema}, this ci-eval has {SCHEMA}): train it again"
        )
    return model


def hash_ranker(path: str | Path | None) -> str:
    """Return the SHA-256 of a ranker's file, as hex, or an empty string for None or ""."""
    return hashlib.sha256(stored.read(Path(path).resolve(), stored.MODEL)).hexdigest() if path else ""


def gain_shares(names: Sequence[str], gains: Sequence[float]) -> dict[str, float]:
    """Return the share of each feature in all gains, the largest first."""
    # A model without any split has no gain.
    total = sum(gains) or 1.0
    shares = ((name, float(gain) / total) for name, gain in zip(names, gains, strict=True))
    return dict(sorted(shares, key=lambda named_share: (-named_share[1], named_share[0])))
