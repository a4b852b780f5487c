-- Means of accuracy, entropies, coherent persuasion and outcomes by partition and condition, with 95% intervals.
-- `all` pools every partition, or every condition with a context. Intervals are over subjects: Wilson's for a share, by
-- the bootstrap for other means.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS "partition", group_values[2] AS condition,
    quantity, n, items AS subjects, mean, low, high, unit
FROM summaries
WHERE grouped_by = ['partition', 'condition']
ORDER BY ALL
