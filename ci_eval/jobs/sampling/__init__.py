"""The runs that ask only as many sessions as are needed."""
