-- Variance of persuasion and of susceptibility between seeds or query forms: mean over relations, with its interval.
-- needs: summaries
SELECT
    model, dtype, query_type, group_values[1] AS measure, group_values[2] AS "over",
    n AS relations, items AS variances, mean, low, high,
    percentile_5, lower_quartile, median, upper_quartile, percentile_95, unit
FROM summaries
WHERE quantity = 'variance' AND grouped_by = ['measure', 'over']
ORDER BY ALL
