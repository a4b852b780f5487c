-- Accuracy, entropies and persuasion of a partition's questions under a context, with intervals; all: every one pooled.
-- Intervals are 95% bootstraps over subjects. With a context, all stands for every context of a question.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS "partition", group_values[2] AS condition,
    quantity, n, items AS subjects, mean, low, high, unit
FROM summaries
WHERE grouped_by = ['partition', 'condition']
ORDER BY ALL
