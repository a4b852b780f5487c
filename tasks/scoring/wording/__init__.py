"""Rules over the words of a reply: forms of answers, mentions, stances, refusals, lists, yes and no.

`swaymeter.data.wording` splits a text into normalised words. `swaymeter.tasks.scoring.followed` combines the rules into
a verdict.
"""
