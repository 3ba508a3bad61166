"""Queries about the use of an object in a method, several states of which are known.

The method follows Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""
