"""Modules that docs/extending.md quotes."""
