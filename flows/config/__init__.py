"""Study files: typed models, reading and validation. Imports no other part of flows."""
