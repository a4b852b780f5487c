-- Mean semantic entropy without and with the context, and its change, over all, persuaded and stubborn instances.
-- An outcome follows from the greedy reply's verdict or, as published, from ROUGE-L. Intervals are over subjects.
-- needs: summaries
SELECT
    model, dtype, quantity,
    group_values[1] AS "partition", group_values[2] AS condition, group_values[3] AS outcome,
    n, items AS subjects, mean, low, high, unit
FROM summaries
WHERE grouped_by = ['partition', 'condition', 'outcome']
ORDER BY ALL
