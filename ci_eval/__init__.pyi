from ci_eval.plugins.exports.run import Run as Run
from ci_eval.plugins.exports.run import open as open  # noqa: A004  it is called ci_eval.open

__version__: str
__all__ = ["Run", "__version__", "open"]
