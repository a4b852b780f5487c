-- Each item of a completed run that changed since the run before, with both states as JSON.
-- view
-- NULL: a new item has no state before, a removed item has no state in the run.
-- needs: history
SELECT *
FROM (
    SELECT
        run, kind, model, dtype, item,
        lag(state) OVER (PARTITION BY kind, model, dtype, item ORDER BY run) AS state_before, state
    FROM history
    WHERE kind <> 'number'
)
WHERE run > (SELECT min(run) FROM history)
ORDER BY run, kind, model, dtype, item
