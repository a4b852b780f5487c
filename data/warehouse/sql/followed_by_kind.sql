-- Numbers and mean persuasion of greedy replies, by relation, followed answer, context type and conflict.
-- needs: summaries
SELECT
    model, dtype, relation, query_type,
    group_values[1] AS kind, nullif(group_values[2], 'none') AS conflict, group_values[3] AS follows,
    prompts AS answers, mean AS persuasion, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['kind', 'conflict', 'follows']
ORDER BY ALL
