"""Runs that ask as few sessions as will do."""
