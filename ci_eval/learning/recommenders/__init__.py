"""Recommenders of method calls, which are trained on object usages, and what they have in common; `kinds/` has one
each."""

from ci_eval.catalog import Catalog
from ci_eval.learning.recommenders.contract import Recommender

CATALOG: Catalog[Recommender] = Catalog(f"{__name__}.kinds", "RECOMMENDER")
names = CATALOG.names
