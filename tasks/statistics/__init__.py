"""Tests on the scores: plain functions of arrays and frames; imports `data` and never a model or the database."""
