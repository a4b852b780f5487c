-- Semantic entropy without and with the context, and its change, of all, of persuaded and of stubborn instances.
-- The outcome follows from the greedy answer's verdict or, as published, from ROUGE-L; intervals are over subjects.
-- needs: summaries
SELECT
    model, dtype, quantity,
    group_values[1] AS "partition", group_values[2] AS condition, group_values[3] AS outcome,
    n, items AS subjects, mean, low, high, unit
FROM summaries
WHERE grouped_by = ['partition', 'condition', 'outcome']
ORDER BY ALL
