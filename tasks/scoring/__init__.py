"""Formulas of measures, a module for each measure.

A formula that reads a model has a parameter of the capability that it needs, such as `NextTokenLogits`
(tasks/models/capabilities.py). Only the module `accuracy` imports a ROUGE library. No module that scores on a GPU
imports `accuracy`.
"""
