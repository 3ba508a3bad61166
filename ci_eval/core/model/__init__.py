"""The values that pass between the stages, which are frozen and can be stored as JSON.

Offsets count Unicode code points of the text whose line ends are normalised to "\\n". Ranks are 1-based.
Latencies are milliseconds. JSON names are camelCase.
"""

from ci_eval.core.model.comparison import *
from ci_eval.core.model.engine import *
from ci_eval.core.model.records import *
from ci_eval.core.model.report import *
from ci_eval.core.model.sessions import *
from ci_eval.core.model.settings import *
from ci_eval.core.model.tokens import *

FORMAT = 1
"""The number rises if the definition of a field changes."""
