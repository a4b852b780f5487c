"""A corpus of text in files: its shards, and their documents as a stream. Imports nothing of the network."""
