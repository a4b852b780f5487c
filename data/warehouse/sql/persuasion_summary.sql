-- The mean over relations of persuasion by relevant and irrelevant contexts; relevance is NULL if all are counted.
-- needs: summaries
SELECT
    model, dtype, query_type, group_values[1] = 'relevant' AS relevant,
    items AS queries, prompts AS pairs, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND (grouped_by = ['relevant'] OR grouped_by = [])
ORDER BY ALL
