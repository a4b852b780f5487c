-- Every test, the largest effects of a comparison and query type first, the untestable last.
-- needs: statistics
SELECT *
FROM statistics
ORDER BY comparison, query_type, effect_size DESC NULLS LAST, model, dtype, relation
