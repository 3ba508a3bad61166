"""The public names for other packages: the contracts of engines, metrics and other variants, and the values they take.

docs/extending.md shows an engine, a metric and a task in another package. CHANGELOG.md lists each change of these
names; the rest of ci-eval may change without notice.
"""

from ci_eval.core.base.errors import (
    CiEvalError,
    ConfigError,
    EngineCrash,
    EngineFailure,
    EngineMisbehaved,
    EngineRaised,
    EngineTimeout,
    PreparationError,
)
from ci_eval.core.contracts import (
    Answer,
    Band,
    CaretContext,
    Engine,
    FileContext,
    Grader,
    Hands,
    Installation,
    Item,
    Language,
    Metric,
    Observation,
    Ordering,
    Pairing,
    Query,
    Ranker,
    Running,
    Surroundings,
    Task,
)
from ci_eval.core.model import (
    EngineInfo,
    Evaluation,
    Extraction,
    Kind,
    LookupScore,
    MetricInfo,
    PlayItem,
    Properties,
    Record,
    Session,
    SessionScore,
    Status,
    Suggestion,
    Token,
)
from ci_eval.core.model.sessions import status
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.scoring import each_token, evaluated, grades_of, rank, rank_of
from ci_eval.fetch.schemes import Scheme, Spec
from ci_eval.plugins.adapters.controls import Control, ControlEngine, OpenText
from ci_eval.plugins.adapters.endpoints.messages import Api, Piece, Prompt
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Archive, Go, Npm, Pip
from ci_eval.rendering.reporters import Reporter, StoredSessions
