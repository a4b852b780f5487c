-- Each item of the last completed run, with its state as JSON.
-- needs: history
SELECT kind, model, dtype, item, state
FROM (
    SELECT *, row_number() OVER (PARTITION BY kind, model, dtype, item ORDER BY run DESC) AS age
    FROM history
    WHERE kind <> 'number'
)
WHERE age = 1 AND state IS NOT NULL
ORDER BY kind, model, dtype, item
