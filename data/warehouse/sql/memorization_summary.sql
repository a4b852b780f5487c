-- Susceptibility of queries by fifth of the memorization ratio; a row without a fifth (NULL) has the mean ratio.
-- needs: summaries
-- unit: share_queries = share
-- The ratio is over conflicting contexts that state another answer or, as in the released code, over every context.
SELECT
    model, dtype, query_type,
    if('memorization_ratio_all' IN (quantity, group_values[2]), 'every context', 'conflicting contexts') AS contexts,
    group_values[1] AS memorization_ratio,
    n AS queries, items AS all_queries, share AS share_queries,
    mean, low, high, percentile_5, lower_quartile, median, upper_quartile, percentile_95, unit
FROM summaries
WHERE quantity IN ('memorization_ratio', 'memorization_ratio_all')
    OR quantity = 'susceptibility' AND grouped_by = ['fifth', 'ratio']
ORDER BY ALL
