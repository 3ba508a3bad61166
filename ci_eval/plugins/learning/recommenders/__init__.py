"""The recommenders of method calls, which are trained on object usages. `kinds/` has one module for each kind."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.learning.recommenders.model import Recommender

CATALOG: Catalog[Recommender] = Catalog(f"{__name__}.kinds", "RECOMMENDER")
names = CATALOG.names
