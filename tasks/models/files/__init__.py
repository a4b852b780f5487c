"""The files of a model: which ones a name stands for, whether they are as published, and a copy that can be loaded."""
