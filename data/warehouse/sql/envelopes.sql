-- Percentiles of a quantity along another one.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM envelopes
ORDER BY model, dtype, quantity, along, relation, query_type, "at"
