"""The languages, one module each."""
