"""The words for what engines are told."""
