-- Susceptibility of a relation's queries by query form, for real and for invented entities.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1]::BIGINT AS form, group_values[2] = 'invented' AS invented,
    n AS queries, mean, low, high, smallest, percentile_5, lower_quartile, median, upper_quartile, percentile_95, largest,
    unit
FROM summaries
WHERE quantity = 'susceptibility' AND grouped_by = ['form', 'entities']
ORDER BY ALL
