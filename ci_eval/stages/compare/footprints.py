"""Puts side by side what engines took of the machine, without a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.manifest import Manifest
from ci_eval.model import Difference, Elsewhere, Estimate
from ci_eval.statistics.footprint import INFOS, figures

OF_THIS_MACHINE = "measured on this machine, in this run: no sample says how far it is from what others would find"
NOT_KNOWN = "not known of both sides"
UNKNOWN = Estimate(value=None)


def differences(base: Manifest, new: Manifest) -> dict[str, Difference]:
    """Name of each figure that is known of a side → both sides."""
    ours, theirs = of_each([base, new])
    return {name: _difference(ours[name], theirs[name]) for name in ours}


def _difference(base: Estimate, new: Estimate) -> Difference:
    known = base.value is not None and new.value is not None
    why = OF_THIS_MACHINE if known else NOT_KNOWN
    return Difference(
        base=base.value,
        new=new.value,
        difference=new.value - base.value if base.value is not None and new.value is not None else None,
        why=why,
        n=min(base.n, new.n),
        elsewhere=Elsewhere(why=why),
    )


def of_each(manifests: Sequence[Manifest]) -> list[dict[str, Estimate]]:
    """For each: name of every figure that is known of one of them → its own figure.

    The memory of a worker with an engine in it is no match for that of an engine's own processes: it is left out beside
    one.
    """
    given = [each.footprint for each in manifests]
    if not all(each.of_worker for each in given):
        given = [replace(each, memory=None) if each.of_worker else each for each in given]
    found = [figures(each) for each in given]
    return [
        {name: each.get(name, UNKNOWN) for name in INFOS if any(name in other for other in found)} for each in found
    ]
