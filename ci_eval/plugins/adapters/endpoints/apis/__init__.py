"""The HTTP interfaces (apis) of endpoints, one module for each family."""

from ci_eval.core.base.catalog import Catalog
from ci_eval.plugins.adapters.endpoints.messages import Api

TOGETHER = {"openai": ("chat", "completions", "fim"), "llama": ("infill", "ollama")}
CATALOG: Catalog[Api] = Catalog(__name__, "API", group="endpoints", kind=Api)
