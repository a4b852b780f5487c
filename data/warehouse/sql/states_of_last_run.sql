-- What the last completed run asked, with what, and was answered: each item with its state, as JSON.
SELECT kind, model, dtype, item, state
FROM (
    SELECT *, row_number() OVER (PARTITION BY kind, model, dtype, item ORDER BY run DESC) AS age
    FROM history_items
)
WHERE age = 1 AND state IS NOT NULL
ORDER BY kind, model, dtype, item
