"""Rules over the words of a reply: forms of answers, mentions, stances, refusals, lists, yes and no.

`swaymeter.data.wording` splits a text into normalised words, without case, accents and a plural s. The tables of the
rules have such words: "perhap" for perhaps, "fur" for für. `swaymeter.tasks.scoring.followed` combines the rules into a
verdict.
"""
