"""Study files: the classes of their sections, reading and validation. Imports no other part of flows."""
