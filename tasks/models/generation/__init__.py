"""The engine of sampled answers: K draws and one greedy answer per prompt, with the model's own probabilities.

For every answer: its tokens with the end step, log p of each under the unscaled logits (temperature 1), and the mean
over its steps of the unscaled softmax [Marjanovic et al. 2024, Eq. 3; end step included, padding excluded].
A prompt is prefilled once for all its answers, and answers with the same tokens so far are decoded as one. Many prompts
are answered at once; where the answers to some have ended, the next prompts take their cache slots.
What it is not: transformers' generate. A model's generation settings (top-k 50, repetition penalties) are not
inherited, and no token is masked by its id.
Repeatable: an answer's draws depend only on seed, model name, identity and sample number. Between batches the logits
themselves differ by rounding; in float32, a draw that this could change is repeated with the prompt read alone, so that
the tokens are the same in every batch. In shorter dtypes rounding is too large for that, and some answers differ.
"""
