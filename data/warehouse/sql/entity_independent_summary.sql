-- Median entity-independent persuasion over all relations, by context type and query type.
-- needs: summaries
SELECT model, dtype, query_type, group_values[1] AS kind, median, unit
FROM summaries
WHERE quantity = 'entity_independent_persuasion' AND relation = 'all' AND grouped_by = ['kind']
ORDER BY ALL
