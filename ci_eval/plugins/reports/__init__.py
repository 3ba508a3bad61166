"""The reports, one module per format. `rendering/reporters.py` finds kinds by the start of a module's name."""
