-- Percentiles of a quantity along another one.
SELECT *
FROM envelopes
ORDER BY model, dtype, quantity, along, relation, query_type, "at"
