"""infini-gram's indexes of corpora: by its public API, or on this machine by its package, with equal methods."""
