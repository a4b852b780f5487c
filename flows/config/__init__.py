"""Study files: the classes of their sections, reading and validation. The package imports no other part of flows."""
