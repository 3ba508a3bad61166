"""The reading and writing of rankers, including other programs' rankers (LightGBM text or ONNX)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.logs.features import NAMES, SCHEMA
from ci_eval.core.model import Value

MODEL_FORMAT = 1
Form = Literal["lightgbm", "onnx"]


class Scores(Value, frozen=True, kw_only=True):
    """Figures of a ranking. `top1` and `top5` are shares of the lookups. Equal suggestions share their mean rank."""

    queries: int
    top1: float
    top5: float
    mrr: float


class BothScores(Value, frozen=True, kw_only=True):
    """The scores of the engine's own order (`before`) and of the ranker's order (`after`)."""

    before: Scores
    after: Scores


class RankerModel(Value, frozen=True, kw_only=True):
    """A trained ranker. If another program trained it, only the features and the booster are known."""

    format: int = MODEL_FORMAT
    schema: str
    """The digest of the features (logs/features.py)."""
    features: tuple[str, ...]
    trained_on: tuple[str, ...]
    queries: int
    rows: int
    label: str
    seed: int
    trees: int
    before: Scores
    """Scores of the engine's own order, on the validation logs."""
    after: Scores
    tested: BothScores | None = None
    """Scores on the test logs, which do not influence the training. None if there are no test logs."""
    kinds: dict[str, BothScores] = {}
    """Kind of the expected suggestion → scores, most frequent kind first. Empty if the logs lack ci-eval's features."""
    importance: dict[str, float]
    """Feature → its share of the total gain of all splits, in descending order."""
    booster: str
    """The ranker itself: LightGBM's text, or ONNX in base64."""
    form: Form = "lightgbm"
    digest: str = ""
    """SHA-256 of `booster`. It is checked before use, since damaged text makes LightGBM end the process."""


def lightgbm() -> ModuleType:
    """Return the LightGBM module. Raises ConfigError if the module is not installed or a system library is missing."""
    try:
        return import_module("lightgbm")
    except OSError as error:
        # LightGBM's wheel does not contain OpenMP, and slim container images lack it.
        hint = "apt-get install libgomp1 (Debian, Ubuntu), dnf install libgomp (Fedora), brew install libomp (macOS)"
        raise ConfigError(f"LightGBM is installed, but a library of the system is missing ({error}): {hint}") from error
    except ImportError as error:
        raise ConfigError(
            f"ranking by a model needs the extra `ml` ({error}): pip install '.[ml]' in a checkout"
        ) from error


def save(model: RankerModel, path: Path) -> None:
    sealed = replace(model, digest=hashlib.sha256(model.booster.encode()).hexdigest())
    atomic.write(path, msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n")


def load(path: Path) -> RankerModel:
    """Read a ranker. Raises ConfigError if the file is damaged, is not a ranker, or was trained on other features."""
    try:
        model = stored.decode_json(stored.read(path.resolve(), stored.MODEL), RankerModel, path)
    except WorkspaceError as error:
        why = str(error).removesuffix("; evaluate again")
        raise ConfigError(
            f"{path} is not a model of `ci-eval train-ranker` or `import-ranker`: give such a model ({why})"
        ) from error
    if model.format != MODEL_FORMAT:
        raise ConfigError(f"{path} has format {model.format}, but this ci-eval reads {MODEL_FORMAT}: train again")
    if model.digest != hashlib.sha256(model.booster.encode()).hexdigest():
        raise ConfigError(f"{path} is damaged: its trees changed later; fetch or train the model again")
    if model.schema != SCHEMA or not set(model.features) <= set(NAMES):
        raise ConfigError(
            f"{path} was trained on other features (schema {model.schema}, this ci-eval has {SCHEMA}): train it again"
        )
    return model


def hash_ranker(path: str | Path | None) -> str:
    """Return the digest of a ranker's file, or "" if `path` is empty."""
    return hashlib.sha256(stored.read(Path(path).resolve(), stored.MODEL)).hexdigest() if path else ""


def gain_shares(names: Sequence[str], gains: Sequence[float]) -> dict[str, float]:
    """Return feature → its share of all gains, in descending order."""
    # A model without any split has no gain.
    total = sum(gains) or 1.0
    shares = ((name, float(gain) / total) for name, gain in zip(names, gains, strict=True))
    return dict(sorted(shares, key=lambda named_share: (-named_share[1], named_share[0])))


FEATURES = "features"
"""The name of an ONNX model's input, and of the metadata entry that names the input's columns."""


def convert_ranker(model: RankerModel) -> bytes:
    """Return the ranker as ONNX. The input `features` is float32 of shape (suggestions, features). The output
    `variable` is a score for each suggestion. Raises ConfigError if onnxmltools is not installed."""
    try:
        tools = import_module("onnxmltools")
        types = import_module("onnxmltools.convert.common.data_types")
    except ImportError as error:
        raise ConfigError(f"ONNX needs the extra `onnx` ({error}): pip install '.[onnx]' in a checkout") from error
    booster = lightgbm().Booster(model_str=model.booster)
    shape = types.FloatTensorType([None, len(model.features)])
    converted = tools.convert_lightgbm(booster, initial_types=[(FEATURES, shape)], zipmap=False)
    converted.metadata_props.add(key=FEATURES, value=json.dumps(model.features))
    written: bytes = converted.SerializeToString()
    return written


Scorer = Callable[[NDArray[np.float32]], NDArray[np.float64]]
"""Array of shape (suggestions, features) → a score for each suggestion; the best one has the highest score."""
UNKNOWN = Scores(queries=0, top1=0, top5=0, mrr=0)
TRIAL_SECONDS = 120
# Damaged text makes LightGBM end its process, so a separate process tries the file first.
TRIAL = """
import json, sys
import lightgbm
booster = lightgbm.Booster(model_file=sys.argv[1])
scores = booster.predict([[0.0] * booster.num_feature()] * 2)
print(json.dumps([booster.feature_name(), booster.num_trees(), list(scores.shape)]))
"""


def read_foreign(path: Path, features: Sequence[str] = ()) -> RankerModel:
    """Read another program's ranker. `features`: the features' names, which the file may lack. Raises ConfigError."""
    try:
        data = stored.read(path.resolve(), stored.MODEL)
    except WorkspaceError as error:
        raise ConfigError(str(error)) from error
    if data.startswith(b"tree"):
        lightgbm()
        form: Form = "lightgbm"
        argv = [sys.executable, "-I", "-c", TRIAL, str(path.resolve())]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=True)
            names, trees, shape = json.loads(done.stdout.splitlines()[-1])
        except (subprocess.SubprocessError, ValueError, IndexError) as error:
            raise ConfigError(
                f"{path} is not a model that LightGBM can read: write it with Booster.save_model"
            ) from error
        if shape != [2]:
            raise ConfigError(f"{path} gives {shape[1]} numbers for each suggestion, but a ranker must give one score")
        text = data.decode("utf-8", "replace")
    else:
        form, trees, text = "onnx", 0, base64.b64encode(data).decode()
        session = _session(data, path)
        written = session.get_modelmeta().custom_metadata_map.get(FEATURES)
        try:
            names = list(map(str, json.loads(written))) if written else list(features)
        except (ValueError, TypeError):
            raise ConfigError(f"{path}: the metadata `{FEATURES}` is not a JSON list of names") from None
        if not names:
            raise ConfigError(
                f"{path} does not name its features: add --features NAME,…, in the order of its input, or the metadata "
                f"`{FEATURES}`, a JSON list"
            )
        try:
            scores = _run(session, np.zeros((2, len(names)), np.float32))
        except Exception as error:
            raise ConfigError(f"{path} does not accept a table of {len(names)} features: {error}") from error
        if scores.shape != (2,):
            raise ConfigError(f"{path} is not a ranker: it does not give one score for each suggestion")
    return RankerModel(
        schema=SCHEMA,
        features=_check_names(path, names, features),
        trained_on=(),
        queries=0,
        rows=0,
        label="imported",
        seed=0,
        trees=trees,
        before=UNKNOWN,
        after=UNKNOWN,
        importance={},
        booster=text,
        form=form,
    )


def _check_names(path: Path, names: Sequence[str], features: Sequence[str]) -> tuple[str, ...]:
    # LightGBM gives these names to features without names.
    numbers = [f"Column_{number}" for number in range(len(names))]
    if features and names not in (list(features), numbers):
        raise ConfigError(f"{path} names its own features, but --features names others: leave --features out")
    if features and len(features) != len(names):
        raise ConfigError(f"{path} has {len(names)} features, but --features names {len(features)}: name all")
    chosen = tuple(features or names)
    if list(chosen) == numbers:
        raise ConfigError(
            f"{path} does not name its features: train it with feature_name, or add --features NAME,…, in the order of "
            "its columns; schema.json, next to the logs, has the names"
        )
    if unknown := next((name for name in chosen if name not in NAMES), None):
        raise ConfigError(
            f"{path}: there is no feature {unknown!r}{guess(unknown, NAMES)}; known are {', '.join(NAMES)}"
        )
    if len(set(chosen)) != len(chosen):
        raise ConfigError(f"{path} names a feature twice: train it with each feature once")
    return chosen


def open_ranker(model: RankerModel) -> Scorer:
    """Return the function that scores suggestions. Raises ConfigError if a package is missing."""
    columns = [NAMES.index(name) for name in model.features]
    whole = tuple(model.features) == tuple(NAMES)
    if model.form == "onnx":
        session = _session(decode_onnx(model), None)
        return lambda rows: _run(session, rows if whole else rows[:, columns])
    booster = lightgbm().Booster(model_str=model.booster)
    # One thread: the workers share the machine, and starting threads takes longer than ranking a short list.
    return lambda rows: np.asarray(booster.predict(rows if whole else rows[:, columns], num_threads=1))


def decode_onnx(model: RankerModel) -> bytes:
    """Return the ONNX file stored in a ranker. Raises ConfigError if there is none."""
    try:
        return base64.b64decode(model.booster, validate=True)
    except binascii.Error as error:
        raise ConfigError("the model file holds no ONNX: import it again") from error


def _session(data: bytes, path: Path | None) -> Any:
    # onnxruntime 1.32 sends telemetry to its makers a few seconds after its import.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        runtime = import_module("onnxruntime")
    except (ImportError, OSError) as error:
        raise ConfigError(f"a ranker in ONNX needs onnxruntime ({error}): pip install onnxruntime") from error
    options = runtime.SessionOptions()
    # One thread, for the same reasons as for LightGBM.
    options.intra_op_num_threads = 1
    try:
        return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ConfigError(f"{path or 'the model'} is neither a model of LightGBM nor ONNX: {error}") from error


def _run(session: Any, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    first, *_ = session.run(None, {session.get_inputs()[0].name: np.ascontiguousarray(rows, np.float32)})
    return np.asarray(first, np.float64).reshape(len(rows), -1).squeeze(axis=1)
