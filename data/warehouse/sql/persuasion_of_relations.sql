-- Mean persuasion by context type and relevance, in each relation and over all relations.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] = 'relevant' AS relevant, group_values[2] AS kind,
    items AS queries, prompts AS pairs, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['relevant', 'kind']
ORDER BY ALL
