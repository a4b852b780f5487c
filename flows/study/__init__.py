"""Study files: typed models, reading, what is refused, and the reference of all keys. Imports nothing else of flows."""
