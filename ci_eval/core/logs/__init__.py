"""Write logs of suggestions and of what the simulated user did, in several formats."""

from ci_eval.core.logs import formats
from ci_eval.core.logs.formats import Logged, LoggedSession, LogOrigin, LogRun, read_logs_record, verify
from ci_eval.core.logs.gather import Log, gather, merge, tables
