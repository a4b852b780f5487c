-- Shares of greedy replies that state the right answer, the wrong answer, both or neither, or decline.
-- Intervals are 95%. `passage`: the reply states the answer of a context of unknown kind.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS condition, nullif(group_values[2], '') AS evidence_set,
    nullif(group_values[3], '') AS passage_order, quantity,
    n, items AS clusters, mean, low, high, interval_over, unit
FROM summaries
WHERE grouped_by = ['condition', 'evidence_set', 'passage_order']
ORDER BY ALL
