-- The variance of scores between seeds and between query forms: its mean over relations, with its interval.
-- needs: summaries
SELECT
    model, dtype, query_type, group_values[1] AS measure, group_values[2] AS "over",
    n AS relations, items AS variances, mean, low, high,
    percentile_5, lower_quartile, median, upper_quartile, percentile_95, unit
FROM summaries
WHERE quantity = 'variance' AND grouped_by = ['measure', 'over']
ORDER BY ALL
