"""Formulas of measures, a module for each measure.

A formula that reads a model takes it by its capabilities, such as `NextTokenLogits` (tasks/models/capabilities.py). The
package imports torch, numpy, swaymeter.data.errors, swaymeter.data.records, swaymeter.data.catalog and
swaymeter.tasks.models. Only accuracy imports a ROUGE library, and no module that scores on a GPU imports accuracy.
"""
