-- Each item of the last completed run that changed since the run before, with both states as JSON.
-- needs: changes_of_runs
SELECT *
FROM changes_of_runs
WHERE run = (SELECT max(run) FROM history)
ORDER BY kind, model, dtype, item
