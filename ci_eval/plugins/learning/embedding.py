"""The vectors of sub-tokens from a project's own code: PPMI and a truncated SVD of their nearness.

After Levy and Goldberg, "Neural word embedding as implicit matrix factorization" (NIPS 2014), with the smoothed
distribution of contexts and the square roots of singular values of Levy, Goldberg and Dagan (TACL 2015). The SVD is the
randomized one of Halko, Martinsson and Tropp (2011).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Ids = NDArray[np.int32]

SMOOTHING = 0.75
"""The power to which frequencies of contexts are raised, so that rare ones do not look too special."""
OVERSAMPLING, ITERATIONS = 10, 2
"""Settings of the randomized SVD: directions beside the requested ones, and passes over the matrix."""
RARE = 1e-3
"""Units that are much more frequent than this share count little in an average (Arora et al., ICLR 2017)."""


@dataclass(frozen=True)
class Embedding:
    """The vectors of the most frequent units."""

    units: Sequence[str]
    """Units, the most frequent first. Of equal ones, those that were read first."""
    counts: NDArray[np.int64]
    vectors: Vectors
    """(units x dimensions), each of length 1, or 0 if a unit is near nothing in particular."""
    places: dict[str, int]

    @classmethod
    def trained(
        cls, files: Iterable[Sequence[str]], *, vocabulary: int, dimensions: int, window: int, seed: int
    ) -> Embedding:
        """Return vectors learnt from `files`, which hold the units of each file in order.

        `vocabulary` is the most units that get a vector. `window` is the number of units on each side that are near
        one.
        """
        read = list(files)
        counts = Counter(unit for file in read for unit in file)
        most = counts.most_common(vocabulary)
        places = {unit: place for place, (unit, _) in enumerate(most)}
        near = _near([_ids(file, places) for file in read], len(most), window)
        vectors = _reduce(_ppmi(near), dimensions, seed)
        return cls([unit for unit, _ in most], np.array([count for _, count in most]), vectors, places)

    def average(self, units: Sequence[tuple[str, float]]) -> Vectors:
        """Return the weighted mean vector of units, in which frequent ones count less. Its length is 1, or 0 if all
        units are unknown."""
        known = [(self.places[unit], weight) for unit, weight in units if unit in self.places]
        if not known:
            return np.zeros(self.vectors.shape[1], dtype=np.float32)
        where = np.array([place for place, _ in known])
        share = self.counts[where] / self.counts.sum()
        weights = np.array([weight for _, weight in known]) * RARE / (RARE + share)
        mean: Vectors = _normalise((weights.astype(np.float32) @ self.vectors[where])[None, :])[0]
        return mean


def _ids(file: Sequence[str], places: dict[str, int]) -> Ids:
    """Return the numbers of the known units of a file."""
    return np.array([place for unit in file if (place := places.get(unit)) is not None], dtype=np.int32)


def _near(files: Sequence[Ids], size: int, window: int) -> Vectors:
    """Return a matrix (size x size) of how often units stand near each other, each occurrence divided by the
    distance."""
    counts = np.zeros(size * size, dtype=np.float32)
    for distance in range(1, window + 1):
        # The product does not fit into 32 bits.
        pairs = [file[:-distance].astype(np.int64) * size + file[distance:] for file in files if len(file) > distance]
        if pairs:
            # `counts[pairs] += …` would count a repeated pair only once.
            np.add.at(counts, np.concatenate(pairs), np.float32(1 / distance))
    square = counts.reshape(size, size)
    return np.asarray(square + square.T, dtype=np.float32)


def _ppmi(near: Vectors) -> Vectors:
    """Return the positive pointwise mutual information of rows with columns."""
    rows = near.sum(axis=1, dtype=np.float64)
    columns = rows**SMOOTHING
    expected = (rows[:, None] * (columns / max(columns.sum(), 1.0))[None, :]).astype(np.float32)
    # Pairs that were never seen have the logarithm of 0, which becomes 0 below.
    with np.errstate(divide="ignore", invalid="ignore"):
        # The matrix has the square of the vocabulary's size, so its memory is used again.
        information = np.log(near / expected, out=expected)
    positive: Vectors = np.maximum(np.nan_to_num(information, copy=False, neginf=0.0, posinf=0.0), 0.0)
    return positive


def _reduce(matrix: Vectors, dimensions: int, seed: int) -> Vectors:
    """Return the rows of a symmetric matrix in fewer dimensions."""
    size = len(matrix)
    rank = min(dimensions, size)
    random = np.random.default_rng(seed).standard_normal((size, min(dimensions + OVERSAMPLING, size)))
    basis, _ = np.linalg.qr(matrix @ random.astype(np.float32))
    # Without a new basis, all directions would turn to the first singular vector.
    for _ in range(ITERATIONS):
        basis, _ = np.linalg.qr(matrix @ basis)
    # The matrix is symmetric, so its singular values are the absolute eigenvalues.
    values, inner = np.linalg.eigh(basis.T @ (matrix @ basis))
    order = np.argsort(-np.abs(values), kind="stable")[:rank]
    rows = (basis @ inner[:, order]) * np.sqrt(np.abs(values[order]))
    return _normalise(rows.astype(np.float32))


def _normalise(rows: Vectors) -> Vectors:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-9), dtype=np.float32)
