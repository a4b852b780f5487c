-- Every stored file of scores: what was computed, when, with which versions; `asked_with` has the prompt.
SELECT COLUMNS(lambda name: name NOT IN ('file_id', 'prompt'))
FROM runs
ORDER BY started_at, model, dtype, relation, measure
