"""Formulas of measures, one module each, computed from the capabilities of a model (tasks/models/capabilities.py).

The package imports torch, numpy, swaymeter.data.errors, swaymeter.data.records, swaymeter.data.catalog and
swaymeter.tasks.models. Only accuracy imports a ROUGE library, and no module that scores on a GPU imports accuracy.
"""
