"""Fetched facts and questions as one dataset with a version, and the differences of two datasets."""
