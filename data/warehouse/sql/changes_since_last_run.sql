-- What the last completed run asked, with what, and was answered that was not so in the run before.
SELECT *
FROM changes_of_runs
WHERE run = (SELECT max(run) FROM history_items)
ORDER BY kind, model, dtype, item
