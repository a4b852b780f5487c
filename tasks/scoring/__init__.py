"""One module per measure, with the field's name; next_token and generation are the two engines that they share.

Imports torch, transformers, numpy, swaymeter.data.errors, swaymeter.data.records, swaymeter.data.catalog and
swaymeter.tasks.models. Only accuracy imports a ROUGE library, and nothing that scores on a GPU imports accuracy.
"""
