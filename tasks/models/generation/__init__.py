"""Sampled replies and a greedy reply to each prompt, with the model's own probabilities (temperature 1).

A prompt is prefilled once for all its replies, and replies with the same tokens so far are decoded as one. The random
numbers of draws depend only on the seed, the model's name, the identity of the prompt and the sample number. In
float32, draws are repeatable: a draw that rounding could change from batch to batch is repeated with the prompt read
alone. In shorter dtypes, some replies depend on the batch.
"""
