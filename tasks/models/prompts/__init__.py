"""How a model is asked: the tokens of prompts for answers, chat templates, thoughts, and where an answer ends."""
