-- Susceptibility of entities by label, and by label and type, under each set of contexts.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] AS label, group_values[2] AS type, n AS entities,
    mean, low, high, smallest, percentile_5, lower_quartile, median, upper_quartile, percentile_95, largest, unit
FROM summaries
WHERE quantity = 'susceptibility' AND (grouped_by = ['label'] OR grouped_by = ['label', 'type'])
ORDER BY ALL
