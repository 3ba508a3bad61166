"""The values that pass between the stages: frozen, JSON-ready, free of behaviour.

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
"""The format number of machine-readable reports, raised if the definition of a field changes."""

FORMER_LANGUAGES = {"another": "text"}
"""The current name of each language that had another name in former workspaces and configurations."""
