-- Shares of replies that state the right or the wrong passage, by evidence set and position, with 95% intervals.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS evidence_set, group_values[2] AS kind, group_values[3] AS "position",
    n, items AS clusters, mean, low, high, interval_over, unit
FROM summaries
WHERE quantity = 'stated' AND grouped_by = ['evidence_set', 'kind', 'position']
ORDER BY ALL
