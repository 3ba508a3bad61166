"""Every value that passes between the stages: frozen, JSON-ready, free of behaviour.

Offsets count Unicode code points of the text whose line ends are normalised to "\\n". Ranks are 1-based.
Latencies are milliseconds. JSON names are camelCase.
"""

from ci_eval.model.actions import (
    Action,
    CallCompletion,
    CodeGolf,
    DeleteRange,
    FileActions,
    FileHead,
    FinishSession,
    MoveCaret,
    OpenFile,
    PlayItem,
    PrintText,
)
from ci_eval.model.comparison import Change, Comparison, Difference, Elsewhere, Side, Subset, Verdict
from ci_eval.model.footprint import Footprint
from ci_eval.model.gates import GateResult
from ci_eval.model.logs import LogCounts, LogFile, LogsRecord
from ci_eval.model.overview import Overview, Ranking
from ci_eval.model.queries import Optimism, QueryFigures, QueryRow
from ci_eval.model.records import Caret, Record, Runnable, Stretch
from ci_eval.model.report import (
    EngineInfo,
    Estimate,
    Evaluation,
    FileFigures,
    FilterFigures,
    MetricInfo,
    Noise,
    OtherCode,
    ProjectInfo,
)
from ci_eval.model.sessions import (
    FAILED,
    UNASKED,
    FileError,
    Lookup,
    LookupScore,
    Otherwise,
    Session,
    SessionScore,
    SourceFile,
    Status,
    Suggestion,
    Usage,
)
from ci_eval.model.settings import (
    ActionsConfig,
    Confine,
    EvolutionConfig,
    FiltersConfig,
    PrefixConfig,
    QueriesConfig,
    RunConfig,
    Section,
    SessionsFilter,
    Span,
    StrategyConfig,
    UserModelConfig,
)
from ci_eval.model.suite import OverProjects, Suite, SuiteProject
from ci_eval.model.sweep import Sweep, SweptRun
from ci_eval.model.tokens import (
    MASKED,
    UNREFERRING,
    Extraction,
    Kind,
    Location,
    Number,
    Properties,
    Token,
    Value,
    Vocabulary,
)
from ci_eval.model.trend import ChangePoint, Line, Trend, TrendPoint
from ci_eval.model.usages import CallPlace, Definition, History, ObjectPlace, ObjectUsage, StoredText

FORMAT = 1
"""Format number of machine-readable reports; a change of meaning raises it."""

FORMER_LANGUAGES = {"another": "text"}
"""What a language was called in workspaces and configurations of before → its name now."""

__all__ = [
    "FAILED",
    "FORMAT",
    "FORMER_LANGUAGES",
    "MASKED",
    "UNASKED",
    "UNREFERRING",
    "Action",
    "ActionsConfig",
    "CallCompletion",
    "CallPlace",
    "Caret",
    "Change",
    "ChangePoint",
    "CodeGolf",
    "Comparison",
    "Confine",
    "Definition",
    "DeleteRange",
    "Difference",
    "Elsewhere",
    "EngineInfo",
    "Estimate",
    "Evaluation",
    "EvolutionConfig",
    "Extraction",
    "FileActions",
    "FileError",
    "FileFigures",
    "FileHead",
    "FilterFigures",
    "FiltersConfig",
    "FinishSession",
    "Footprint",
    "GateResult",
    "History",
    "Kind",
    "Line",
    "Location",
    "LogCounts",
    "LogFile",
    "LogsRecord",
    "Lookup",
    "LookupScore",
    "MetricInfo",
    "MoveCaret",
    "Noise",
    "Number",
    "ObjectPlace",
    "ObjectUsage",
    "OpenFile",
    "Optimism",
    "OtherCode",
    "Otherwise",
    "OverProjects",
    "Overview",
    "PlayItem",
    "PrefixConfig",
    "PrintText",
    "ProjectInfo",
    "Properties",
    "QueriesConfig",
    "QueryFigures",
    "QueryRow",
    "Ranking",
    "Record",
    "RunConfig",
    "Runnable",
    "Section",
    "Session",
    "SessionScore",
    "SessionsFilter",
    "Side",
    "SourceFile",
    "Span",
    "Status",
    "StoredText",
    "StrategyConfig",
    "Stretch",
    "Subset",
    "Suggestion",
    "Suite",
    "SuiteProject",
    "Sweep",
    "SweptRun",
    "Token",
    "Trend",
    "TrendPoint",
    "Usage",
    "UserModelConfig",
    "Value",
    "Verdict",
    "Vocabulary",
]
