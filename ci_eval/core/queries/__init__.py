"""The queries about an object whose code is known in several states.

After Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""
