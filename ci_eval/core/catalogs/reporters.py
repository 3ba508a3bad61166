"""The catalogs of reporters: of comparisons in files that begin with `comparison_`, over several evaluations with
`overview_`, of sites with `site_`, of sweeps with `sweep_`, of suites with `suite_`."""

from collections.abc import Callable

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.rendering.contract import (
    ComparisonReporter,
    OverviewReporter,
    Reporter,
    SiteReporter,
    SuiteReporter,
    SweepReporter,
)

_FOLDER = "ci_eval.plugins.reports"


def _make_prefix_test(word: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(word)


def _is_of_evaluation(name: str) -> bool:
    return not name.startswith(("comparison_", "overview_", "site_", "sweep_", "suite_"))


CATALOG: Catalog[Reporter] = Catalog(_FOLDER, "REPORTER", belongs=_is_of_evaluation, group="reports", kind=Reporter)
COMPARISONS: Catalog[ComparisonReporter] = Catalog(_FOLDER, "REPORTER", belongs=_make_prefix_test("comparison_"))
OVERVIEWS: Catalog[OverviewReporter] = Catalog(_FOLDER, "REPORTER", belongs=_make_prefix_test("overview_"))
SITES: Catalog[SiteReporter] = Catalog(_FOLDER, "REPORTER", belongs=_make_prefix_test("site_"))
SUITES: Catalog[SuiteReporter] = Catalog(_FOLDER, "REPORTER", belongs=_make_prefix_test("suite_"))
SWEEPS: Catalog[SweepReporter] = Catalog(_FOLDER, "REPORTER", belongs=_make_prefix_test("sweep_"))
names = CATALOG.names
