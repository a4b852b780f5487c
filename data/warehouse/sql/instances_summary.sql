-- Coherent persuasion by partition and condition: its mean with an interval over subjects, and its quantiles.
-- needs: summaries
SELECT
    s.model, s.dtype, s.group_values[1] AS condition, s.group_values[2] AS "partition",
    s.n AS instances, s.mean, i.low, i.high, s.median, s.smallest, s.largest, s.unit
FROM summaries AS s
LEFT JOIN summaries AS i
    ON i.model = s.model AND i.dtype = s.dtype AND i.quantity = s.quantity
    AND i.grouped_by = ['partition', 'condition'] AND i.group_values = list_reverse(s.group_values)
WHERE s.quantity = 'coherent_persuasion' AND s.grouped_by = ['condition', 'partition']
ORDER BY ALL
