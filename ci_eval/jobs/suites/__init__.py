"""The table of runs, and the jobs for several projects in one configuration."""
