"""Sampled answers: K draws and one greedy answer per prompt, with the model's own probabilities (temperature 1).

A prompt is prefilled once for all its answers, answers with the same tokens so far are decoded as one, and many prompts
are answered at once. A model's own generation settings are not used, and no token is masked by its id.
Repeatable: an answer's draws depend only on seed, model name, identity and sample number. In float32, a draw that the
rounding between batches could change is repeated with the prompt read alone; in shorter dtypes some answers differ.
"""
