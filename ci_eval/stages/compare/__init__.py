"""Two workspaces → what is better, what is worse, and what cannot be told."""

from ci_eval.stages.compare.compare import compare, refuse
from ci_eval.stages.compare.pairing import StoredPairs

__all__ = ["StoredPairs", "compare", "refuse"]
