"""The sections of a study file: what each may hold, and what is refused in it. They import nothing else of flows."""
