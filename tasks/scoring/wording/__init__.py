"""A text as words, and what can be told from them: numbers, times, names, denials, refusals, yes and no.

words reads a text with numbers and stems; forms, names, denials, refusals and yes_no look at words alone. Nothing here
knows of models, of questions with contexts, or of whose answer it is: swaymeter.tasks.scoring.followed does.
"""
