"""The small tools that know nothing of code completion."""
