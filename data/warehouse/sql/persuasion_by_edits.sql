-- Coherent persuasion by number of edits of the fact, the creation included, with its interval over subjects.
-- needs: summaries
SELECT
    model, dtype, group_values[1] AS condition, group_values[2] AS edits, n AS instances, items AS subjects,
    mean, low, high, unit
FROM summaries
WHERE quantity = 'coherent_persuasion' AND grouped_by = ['condition', 'edits']
ORDER BY ALL
