"""Rules over the words of a reply: forms of answers, mentions, stances, refusals, lists, yes and no.

`swaymeter.data.wording` gives the words. `swaymeter.tasks.scoring.followed` combines the rules to a verdict.
"""
