"""The statistics of sessions that were asked more than once."""
