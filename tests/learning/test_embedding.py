"""Vectors of sub-tokens: near what is used alike."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.plugins.learning.embedding import Embedding, _ppmi, _reduce

FILES = [f"open {what} read {what} close".split() for what in ("file", "socket", "pipe") for _ in range(20)] + [
    f"red {what} blue".split() for what in ("circle", "square") for _ in range(20)
]


def trained(dimensions: int = 8, vocabulary: int = 100) -> Embedding:
    return Embedding.trained(FILES, vocabulary=vocabulary, dimensions=dimensions, window=2, seed=0)


def near(found: Embedding, one: str, other: str) -> float:
    return float(found.vectors[found.places[one]] @ found.vectors[found.places[other]])


def test_what_is_used_alike_is_near() -> None:
    found = trained()
    assert near(found, "file", "socket") > near(found, "file", "circle") + 0.3
    assert near(found, "circle", "square") > near(found, "circle", "pipe") + 0.3


def test_an_average_is_near_its_parts_and_knows_nothing_of_the_unknown() -> None:
    found = trained()
    average = found.average([("circle", 1.0), ("square", 1.0), ("unheard", 5.0)])
    assert float(found.vectors[found.places["circle"]] @ average) > 0.5
    assert np.linalg.norm(average) == pytest.approx(1, abs=1e-5)
    assert not found.average([("unheard", 1.0)]).any()


def test_the_most_frequent_have_vectors_of_length_one() -> None:
    found = trained(vocabulary=5)
    assert found.units == ["open", "read", "close", "file", "socket"]
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


def test_the_same_files_give_the_same_vectors() -> None:
    assert (trained().vectors == trained().vectors).all()


def test_nothing_has_no_vectors() -> None:
    assert Embedding.trained([], vocabulary=9, dimensions=4, window=2, seed=0).vectors.shape[0] == 0


def test_information_is_what_the_formula_says() -> None:
    near_each_other = np.array([[0, 2], [2, 4]], dtype=np.float32)
    columns = np.array([2.0, 6.0]) ** 0.75
    expected = np.log(
        [
            [1e-99, 2 / (2 * columns[1] / columns.sum())],
            [2 / (6 * columns[0] / columns.sum()), 4 / (6 * columns[1] / columns.sum())],
        ]
    )
    assert _ppmi(near_each_other) == pytest.approx(np.maximum(expected, 0), abs=1e-5)


def test_fewer_dimensions_keep_the_angles_of_the_largest_ones() -> None:
    random = np.random.default_rng(1).standard_normal((60, 4))
    matrix = (random @ random.T).astype(np.float32)
    values, vectors = np.linalg.eigh(matrix)
    rows = vectors[:, -4:] * np.sqrt(values[-4:])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = _reduce(matrix, 4, 0)
    assert found @ found.T == pytest.approx(rows @ rows.T, abs=1e-3)
