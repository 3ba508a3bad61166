"""The reporters, one file each: of comparisons in files that begin with `comparison_`, over several evaluations with
`overview_`, of sites with `site_`, of sweeps with `sweep_`, of suites with `suite_`."""

from collections.abc import Callable

from ci_eval.catalog import Catalog
from ci_eval.rendering.contract import (
    ComparisonReporter,
    OverviewReporter,
    Reporter,
    SiteReporter,
    SuiteReporter,
    SweepReporter,
)


def _beginning(word: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(word)


def _of_evaluations(name: str) -> bool:
    return not name.startswith(("comparison_", "overview_", "site_", "sweep_", "suite_"))


CATALOG: Catalog[Reporter] = Catalog(__name__, "REPORTER", belongs=_of_evaluations, group="reports", kind=Reporter)
COMPARISONS: Catalog[ComparisonReporter] = Catalog(__name__, "REPORTER", belongs=_beginning("comparison_"))
OVERVIEWS: Catalog[OverviewReporter] = Catalog(__name__, "REPORTER", belongs=_beginning("overview_"))
SITES: Catalog[SiteReporter] = Catalog(__name__, "REPORTER", belongs=_beginning("site_"))
SUITES: Catalog[SuiteReporter] = Catalog(__name__, "REPORTER", belongs=_beginning("suite_"))
SWEEPS: Catalog[SweepReporter] = Catalog(__name__, "REPORTER", belongs=_beginning("sweep_"))
names = CATALOG.names
