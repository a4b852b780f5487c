-- Every stored file of scores: what was computed, when, with which versions.
SELECT *
FROM runs
ORDER BY started_at, model, dtype, relation, measure
