"""The logs of suggestions and of what the user did, written session by session in several formats."""

from ci_eval.core.logs import formats
from ci_eval.core.logs.columns import LogOrigin
from ci_eval.core.logs.contract import LogRun
from ci_eval.core.logs.extra import tables
from ci_eval.core.logs.gather import gather
from ci_eval.core.logs.merging import merge
from ci_eval.core.logs.queries import Logged, LoggedSession
from ci_eval.core.logs.records import read_logs_record, verify
from ci_eval.core.logs.writing import Log
