"""The values that the stages exchange. They are frozen and can be stored as JSON, with names in camelCase.

Offsets count Unicode code points, in texts whose line ends are normalised to "\\n". Ranks start at 1.
Latencies are in milliseconds.
"""

from ci_eval.core.model.comparison import *
from ci_eval.core.model.engine import *
from ci_eval.core.model.records import *
from ci_eval.core.model.report import *
from ci_eval.core.model.sessions import *
from ci_eval.core.model.settings import *
from ci_eval.core.model.tokens import *

FORMAT = 1
"""The format number of stored values. It increases if the definition of a field changes."""
