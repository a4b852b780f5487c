-- Susceptibility of queries by fifth of the memorization ratio; the fifth is NULL for the mean ratio of all queries.
-- unit: share_queries = share
SELECT
    model, dtype, query_type, group_values[1] AS memorization_ratio,
    n AS queries, items AS all_queries, share AS share_queries,
    mean, percentile_5, lower_quartile, median, upper_quartile, percentile_95, unit
FROM summaries
WHERE quantity = 'memorization_ratio' OR quantity = 'susceptibility' AND grouped_by = ['memorization_ratio']
ORDER BY ALL
