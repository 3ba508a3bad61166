"""The decision what engines are told."""
