"""Utilities that have nothing to do with code completion."""
