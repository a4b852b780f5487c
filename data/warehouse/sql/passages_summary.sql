-- How often answers state the right and the wrong passage, by set and place, with 95% intervals.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS evidence_set, group_values[2] AS kind, group_values[3] AS "position",
    n, items AS clusters, mean, low, high, interval_over, unit
FROM summaries
WHERE quantity = 'stated' AND grouped_by = ['evidence_set', 'kind', 'position']
ORDER BY ALL
