"""A view of what two engines took of the machine, side by side and without a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Difference, Elsewhere, Estimate
from ci_eval.core.statistics.footprint import INFOS, figures

OF_THIS_MACHINE = "measured on this machine, in this run: no sample says how far it is from what others would find"
NOT_KNOWN = "not known of both sides"
UNKNOWN = Estimate(value=None)


def differences(base: Manifest, new: Manifest) -> dict[str, Difference]:
    """Return both sides of each figure that is known of a side, by the figure's name."""
    ours, theirs = align_figures([base, new])
    both = {}
    for name, side in ours.items():
        other = theirs[name]
        difference = other.value - side.value if side.value is not None and other.value is not None else None
        why = NOT_KNOWN if difference is None else OF_THIS_MACHINE
        both[name] = Difference(
            base=side.value,
            new=other.value,
            difference=difference,
            why=why,
            n=min(side.n, other.n),
            elsewhere=Elsewhere(why=why),
        )
    return both


def align_figures(manifests: Sequence[Manifest]) -> list[dict[str, Estimate]]:
    """Return for each run the figures that are known of at least one run, by name."""
    footprints = [manifest.footprint for manifest in manifests]
    if not all(footprint.of_worker for footprint in footprints):
        # The memory of a worker with an engine in it cannot be compared with that of an engine's own processes.
        footprints = [replace(footprint, memory=None) if footprint.of_worker else footprint for footprint in footprints]
    sides = [figures(footprint) for footprint in footprints]
    return [
        {name: side.get(name, UNKNOWN) for name in INFOS if any(name in known for known in sides)} for side in sides
    ]
