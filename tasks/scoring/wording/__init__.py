"""Rules over the words of a text: names, denials, refusals, yes and no.

swaymeter.data.wording reads a text as words, with numbers and stems; forms, names, denials, refusals and yes_no look at
words alone. Nothing here knows of models, of questions with contexts, or of whose answer it is:
swaymeter.tasks.scoring.followed does.
"""
