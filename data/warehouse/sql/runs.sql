-- Every stored file of scores: what was computed, when, with which versions.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM runs
ORDER BY started_at, model, dtype, relation, measure
