-- Shares of greedy replies that give the right answer, the wrong one, both, neither, or none, with 95% intervals.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS condition, nullif(group_values[2], '') AS evidence_set,
    nullif(group_values[3], '') AS passage_order, quantity,
    n, items AS clusters, mean, low, high, interval_over, unit
FROM summaries
WHERE grouped_by = ['condition', 'evidence_set', 'passage_order']
ORDER BY ALL
