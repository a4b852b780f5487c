"""The commands, a module a group; each imports what it needs within its functions."""
