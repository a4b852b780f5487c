"""Study files: typed models, reading, and what is refused. Imports nothing else of flows."""
