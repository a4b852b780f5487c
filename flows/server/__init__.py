"""Prefect's API as a child process: the temporary one of a command, and the one with a page behind `make ui`."""
