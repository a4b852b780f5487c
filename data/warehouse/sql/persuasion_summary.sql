-- Mean persuasion over relations, of relevant and of irrelevant contexts.
-- If `relevant` is NULL, the row counts all queries and pairs of a model, and its mean is NULL.
-- needs: summaries
SELECT
    model, dtype, query_type, group_values[1] = 'relevant' AS relevant,
    items AS queries, prompts AS pairs, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND (grouped_by = ['relevant'] OR grouped_by = [])
ORDER BY ALL
