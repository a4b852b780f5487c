-- Percentiles of a quantity, along a second quantity.
-- needs: envelopes
SELECT *
FROM envelopes
ORDER BY model, dtype, quantity, along, relation, query_type, "at"
