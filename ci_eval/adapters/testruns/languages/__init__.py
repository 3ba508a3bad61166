"""The languages whose tests are run; one file each, with `RUNNER: Runner`."""

from ci_eval.adapters.testruns.contract import Runner
from ci_eval.catalog import Catalog

CATALOG: Catalog[Runner] = Catalog(__name__, "RUNNER")
