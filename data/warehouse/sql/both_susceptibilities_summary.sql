-- Susceptibility over contexts and Fisher susceptibility: over all queries, by real or invented entity, and by wording.
-- Fisher susceptibility is also grouped by ranges of susceptibility.
-- needs: summaries
-- unit: share_queries = share
SELECT
    model, dtype, query_type, if(quantity = 'pooled_fisher', 'fisher', 'susceptibility') AS measure,
    grouped_by[1] AS grouped_by, group_values[1] AS of_group, n AS queries, share AS share_queries, items AS entities,
    mean, low, high, percentile_5, lower_quartile, median, upper_quartile, percentile_95, unit
FROM summaries
WHERE quantity IN ('pooled_susceptibility', 'pooled_fisher')
ORDER BY ALL
