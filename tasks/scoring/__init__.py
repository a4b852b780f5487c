"""One module per measure, with the field's name: formulas of what a model gives, as tasks/models/capabilities.py says.

Imports torch, numpy, swaymeter.data.errors, swaymeter.data.records, swaymeter.data.catalog and swaymeter.tasks.models.
Only accuracy imports a ROUGE library, and nothing that scores on a GPU imports accuracy.
"""
