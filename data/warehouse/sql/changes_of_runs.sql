-- What a completed run asked, with what, and was answered that was not so in the run before: its state in both, as JSON.
-- view
-- A setting, a fact or an answer that is new has none before, one that is gone none in the run.
SELECT *
FROM (
    SELECT
        run, kind, model, dtype, item,
        lag(state) OVER (PARTITION BY kind, model, dtype, item ORDER BY run) AS state_before, state
    FROM history_items
)
WHERE run > (SELECT min(run) FROM history_items)
ORDER BY run, kind, model, dtype, item
