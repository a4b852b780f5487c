"""Prompts: tokens of prompts for answers, chat templates, thoughts, and ends of answers."""
