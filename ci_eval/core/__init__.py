"""The engine of ci-eval, which imports no plugin: values, stages, statistics and what they need."""
