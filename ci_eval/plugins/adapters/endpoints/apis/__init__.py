"""The apis by which an endpoint is asked."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.adapters.endpoints.messages import Api

TOGETHER = {"openai": ("chat", "completions", "fim"), "llama": ("infill", "ollama")}
"""The apis of modules that hold several."""
CATALOG: Catalog[Api] = Catalog(__name__, "API", group="endpoints", kind=Api)
