"""The files of a model: the identity of a name, verified digests, and GGUF files converted for loading."""
