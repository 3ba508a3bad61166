"""The reporters: one file each; those of comparisons begin with `comparison_`."""

from ci_eval.contracts import ComparisonReporter, Reporter
from ci_eval.support.catalog import Catalog


def _of_comparisons(name: str) -> bool:
    return name.startswith("comparison_")


def _of_evaluations(name: str) -> bool:
    return not _of_comparisons(name)


CATALOG: Catalog[Reporter] = Catalog(__name__, "REPORTER", belongs=_of_evaluations)
COMPARISONS: Catalog[ComparisonReporter] = Catalog(__name__, "REPORTER", belongs=_of_comparisons)
names = CATALOG.names
