"""The reports, one module per format. `rendering/reporters.py` finds the kind of a report by the start of a module's
name."""
