-- The items of each completed run that changed since the run before: the state in both runs, as JSON.
-- view
-- An item that is new has no state before, an item that is gone no state in the run.
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
