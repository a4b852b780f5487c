"""The commands, one module for each group; functions import heavy packages when a command runs."""
