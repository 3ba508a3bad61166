"""Canopy clustering of sets by cosine distance (McCallum, Nigam & Ungar 2000), as PBN uses it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ci_eval.learning.recommenders.contract import Ints


def canopies(starts: Ints, flat: Ints, t1: float, t2: float) -> tuple[Ints, Ints]:
    """The canopies of different, non-empty sets of small numbers: parallel arrays of canopy and member, in the order of
    the sets, which decides: the first one left is a centre, takes what is nearer than `t1` in, and what is nearer than
    `t2` out of the rest. A set may be in several canopies.

    `starts`: where each set begins in `flat`, one more at the end. Needs 0 < t2 <= t1 <= 1.
    """
    sizes = np.diff(starts)
    places = {int(size): np.flatnonzero(sizes == size) for size in np.unique(sizes)}
    rows = {size: flat[starts[of][:, None] + np.arange(size)] for size, of in places.items()}
    near = {size: [other for other in places if _nearest(size, other) < t1] for size in places}
    left = np.ones(len(sizes), dtype=bool)
    mask = np.zeros(int(flat.max(initial=-1)) + 1, dtype=bool)
    members: list[Ints] = []
    for centre in range(len(sizes)):
        if not left[centre]:
            continue
        own = flat[starts[centre] : starts[centre + 1]]
        mask[own] = True
        found = [np.array([centre])]
        left[centre] = False
        for size in near[len(own)]:
            open_ = np.flatnonzero(left[places[size]])
            distance = 1 - mask[rows[size][open_]].sum(axis=1) / sqrt(len(own) * size)
            found.append(places[size][open_[distance < t1]])
            left[places[size][open_[distance < t2]]] = False
        mask[own] = False
        members.append(np.sort(np.concatenate(found)))
    lengths = [len(each) for each in members]
    return np.repeat(np.arange(len(members)), lengths), np.concatenate([*members, np.empty(0, dtype=np.int64)])


def _nearest(one: int, other: int) -> float:
    """The distance that two different sets of these sizes have at least."""
    return 1 - (one - 1 if one == other else min(one, other)) / sqrt(one * other)
