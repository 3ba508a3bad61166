"""The languages whose tests are run; one file each, with `RUNNER: Runner`."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.adapters.testruns.contract import Runner

CATALOG: Catalog[Runner] = Catalog(__name__, "RUNNER")
