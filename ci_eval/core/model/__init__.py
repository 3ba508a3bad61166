"""The values that pass between the stages: frozen, JSON-ready, free of behaviour.

Offsets count Unicode code points of the text whose line ends are normalised to "\\n". Ranks are 1-based.
Latencies are milliseconds. JSON names are camelCase.
"""

from ci_eval.core.model.actions import (
    Action,
    Asked,
    CallCompletion,
    CodeGolf,
    DeleteRange,
    FileActions,
    FileAsked,
    FileHead,
    FinishSession,
    MoveCaret,
    OpenFile,
    PlayItem,
    PrintText,
    RemovedImport,
    UseImport,
)
from ci_eval.core.model.comparison import (
    Change,
    ChangePoint,
    Comparison,
    Difference,
    Elsewhere,
    Failures,
    FailureVerdict,
    HeldOut,
    Line,
    Lines,
    OverProjects,
    Overview,
    PairCounts,
    Ranking,
    Side,
    Subset,
    Suite,
    SuiteProject,
    Sweep,
    SweptRun,
    Trend,
    TrendPoint,
    Verdict,
)
from ci_eval.core.model.footprint import Determinism, Footprint, State
from ci_eval.core.model.records import (
    CallPlace,
    Caret,
    Contribution,
    Definition,
    Histories,
    History,
    ObjectPlace,
    ObjectUsage,
    Optimism,
    QueryFigures,
    QueryRow,
    Record,
    Runnable,
    Steps,
    StoredText,
    Stretch,
    sum_histories,
)
from ci_eval.core.model.report import (
    EngineInfo,
    Estimate,
    Evaluation,
    FileFigures,
    FilterFigures,
    GateResult,
    LogCounts,
    LogFile,
    LogsRecord,
    MetricInfo,
    Noise,
    OtherCode,
    ProjectInfo,
)
from ci_eval.core.model.sessions import (
    FAILED,
    UNASKED,
    FileError,
    Lookup,
    LookupScore,
    Otherwise,
    Paint,
    Pair,
    Session,
    SessionScore,
    SourceFile,
    Status,
    Suggestion,
    Usage,
    unasked_stretches,
)
from ci_eval.core.model.settings import (
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
from ci_eval.core.model.tokens import (
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

FORMAT = 1
"""The format number of machine-readable reports, raised if the definition of a field changes."""

FORMER_LANGUAGES = {"another": "text"}
"""The current name of each language that had another name in former workspaces and configurations."""
