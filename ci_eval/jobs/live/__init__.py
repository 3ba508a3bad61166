"""The reports of runs that are still going on."""
