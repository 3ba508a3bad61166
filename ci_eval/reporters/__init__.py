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


def _begins_with(word: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(word)


def _is_of_evaluation(name: str) -> bool:
    return not name.startswith(("comparison_", "overview_", "site_", "sweep_", "suite_"))


CATALOG: Catalog[Reporter] = Catalog(__name__, "REPORTER", belongs=_is_of_evaluation, group="reports", kind=Reporter)
COMPARISONS: Catalog[ComparisonReporter] = Catalog(__name__, "REPORTER", belongs=_begins_with("comparison_"))
OVERVIEWS: Catalog[OverviewReporter] = Catalog(__name__, "REPORTER", belongs=_begins_with("overview_"))
SITES: Catalog[SiteReporter] = Catalog(__name__, "REPORTER", belongs=_begins_with("site_"))
SUITES: Catalog[SuiteReporter] = Catalog(__name__, "REPORTER", belongs=_begins_with("suite_"))
SWEEPS: Catalog[SweepReporter] = Catalog(__name__, "REPORTER", belongs=_begins_with("sweep_"))
names = CATALOG.names
