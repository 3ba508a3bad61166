"""The decision which configuration is sent to an engine."""
