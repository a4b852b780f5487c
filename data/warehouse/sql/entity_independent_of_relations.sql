-- Entity-independent persuasion in each relation by context type: mean and quantiles, beside the mean of all types.
-- needs: summaries
SELECT
    s.model, s.dtype, s.relation, s.query_type, s.group_values[1] AS kind,
    s.items AS contexts, s.n AS "rows", s.mean,
    s.smallest, s.lower_quartile, s.median, s.upper_quartile, s.largest,
    every.mean AS mean_of_kinds, s.unit
FROM summaries AS s
JOIN summaries AS every USING (quantity, model, dtype, relation, query_type)
WHERE quantity = 'entity_independent_persuasion' AND relation <> 'all' AND s.grouped_by = ['kind'] AND every.grouped_by = []
ORDER BY ALL
