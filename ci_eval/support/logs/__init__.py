"""Logs of what was suggested and what the user did: gathered session by session, written in several formats."""

from ci_eval.support.logs.columns import Origin
from ci_eval.support.logs.gather import gather
from ci_eval.support.logs.merging import merge
from ci_eval.support.logs.queries import Logged, LoggedSession
from ci_eval.support.logs.records import record_of, verify
from ci_eval.support.logs.writing import Log, tables

__all__ = ["Log", "Logged", "LoggedSession", "Origin", "gather", "merge", "record_of", "tables", "verify"]
