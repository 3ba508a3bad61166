"""A trained ranker as ONNX. Needs onnxmltools (the extra `onnx`)."""

from __future__ import annotations

import json
from importlib import import_module

from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.learning.model_file import RankerModel, lightgbm

INPUT = "features"
METADATA = "features"
"""The key in the metadata under which the names of the features stand, as JSON."""


def convert_ranker(model: RankerModel) -> bytes:
    """Return an ONNX model from `features`, float32 of shape (suggestions, features), to `variable`, a score for each.
    The metadata `features` has the names of the columns. Raises ConfigError if onnxmltools is not installed."""
    try:
        tools = import_module("onnxmltools")
        types = import_module("onnxmltools.convert.common.data_types")
    except ImportError as error:
        raise ConfigError(f"ONNX needs the extra `onnx` ({error}): pip install '.[onnx]' in a checkout") from error
    booster = lightgbm().Booster(model_str=model.booster)
    shape = types.FloatTensorType([None, len(model.features)])
    converted = tools.convert_lightgbm(booster, initial_types=[(INPUT, shape)], zipmap=False)
    converted.metadata_props.add(key=METADATA, value=json.dumps(model.features))
    written: bytes = converted.SerializeToString()
    return written
