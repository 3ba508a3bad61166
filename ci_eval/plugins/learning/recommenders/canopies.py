"""The canopy clustering of sets by cosine distance (McCallum, Nigam & Ungar 2000), as PBN uses it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ci_eval.plugins.learning.recommenders.contract import Ints


def canopies(starts: Ints, flat: Ints, t1: float, t2: float) -> tuple[Ints, Ints]:
    """Return the canopies of different, non-empty sets of small numbers, as parallel arrays of canopy and member.

    The order of the sets decides: the first one left is a centre, takes those nearer than `t1` in, and removes those
    nearer than `t2` from the remaining ones. A set may be in several canopies. `starts` has where each set begins in
    `flat`, and the end. Needs 0 < t2 <= t1 <= 1.
    """
    sizes = np.diff(starts)
    places = {int(size): np.flatnonzero(sizes == size) for size in np.unique(sizes)}
    rows = {size: flat[starts[of][:, None] + np.arange(size)] for size, of in places.items()}
    # Sets of very different sizes cannot be near, so they are never compared.
    near = {size: [other_size for other_size in places if _nearest(size, other_size) < t1] for size in places}
    left = np.ones(len(sizes), dtype=bool)
    mask = np.zeros(int(flat.max(initial=-1)) + 1, dtype=bool)
    members: list[Ints] = []
    for centre in range(len(sizes)):
        if not left[centre]:
            continue
        own = flat[starts[centre] : starts[centre + 1]]
        mask[own] = True
        parts = [np.array([centre])]
        left[centre] = False
        for size in near[len(own)]:
            open_ = np.flatnonzero(left[places[size]])
            distance = 1 - mask[rows[size][open_]].sum(axis=1) / sqrt(len(own) * size)
            parts.append(places[size][open_[distance < t1]])
            left[places[size][open_[distance < t2]]] = False
        mask[own] = False
        members.append(np.sort(np.concatenate(parts)))
    lengths = [len(canopy) for canopy in members]
    return np.repeat(np.arange(len(members)), lengths), np.concatenate([*members, np.empty(0, dtype=np.int64)])


def _nearest(first: int, second: int) -> float:
    """Return the least distance of two different sets of these sizes."""
    return 1 - (first - 1 if first == second else min(first, second)) / sqrt(first * second)
