"""The core of ci-eval: data model, stages and statistics. It does not import plugins."""
