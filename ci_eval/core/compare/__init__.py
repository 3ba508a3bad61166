"""Compare two workspaces, rank several, or compare one with its history."""

from ci_eval.core.compare.compare import compare, pilot, refuse
from ci_eval.core.compare.conditions import compare_settings, list_settings, name_sides
from ci_eval.core.compare.gates import judge_since
from ci_eval.core.compare.pairing import StoredPairs
from ci_eval.core.compare.ranking import rank, take_verdicts
from ci_eval.core.compare.trend import Figures, History, append, read, read_figures, trend
