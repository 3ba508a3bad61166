"""What can be asked about an object of which it is known how the code around it came to be.

After Proksch et al., "Evaluating the evaluations of code recommender systems" (ASE 2016).
"""
