-- Each test of two groups; in a comparison and query type, the largest effects come first, untestable tests last.
-- needs: statistics
SELECT *
FROM statistics
ORDER BY comparison, query_type, effect_size DESC NULLS LAST, model, dtype, relation
