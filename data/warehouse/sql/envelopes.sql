-- Percentiles of a quantity near each value of a second quantity, such as susceptibility near each degree.
-- needs: envelopes
SELECT *
FROM envelopes
ORDER BY model, dtype, quantity, along, relation, query_type, "at"
