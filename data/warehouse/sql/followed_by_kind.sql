-- Whose answer the greedy answers give, by kind of context and conflict, with the mean persuasion of these contexts.
-- needs: summaries
SELECT
    model, dtype, relation, query_type,
    group_values[1] AS kind, nullif(group_values[2], 'none') AS conflict, group_values[3] AS follows,
    prompts AS answers, mean AS persuasion, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['kind', 'conflict', 'follows']
ORDER BY ALL
