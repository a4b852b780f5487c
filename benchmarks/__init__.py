"""One script per headline figure, each measuring both sides in one run: `python benchmarks/next_token.py`.

Imports data and tasks; nothing imports it, and it is no part of what is installed. gpu.py, and what it imports, needs
no more than swaymeter.tasks.scoring does, so that it runs on a bare GPU machine.
"""
