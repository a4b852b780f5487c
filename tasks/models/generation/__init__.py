"""Sampled answers: K draws and one greedy answer per prompt, with the model's own probabilities (temperature 1).

A prompt is prefilled once for all its answers, and answers with the same tokens so far are decoded as one. Draws are
repeatable, because they depend only on seed, model name, identity and sample number. In float32, a draw that rounding
between batches could change is repeated with the prompt read alone; in shorter dtypes some answers differ.
"""
