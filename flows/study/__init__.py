"""Study files: typed models, reading, messages about what is wrong in them. Imports nothing else of flows."""
