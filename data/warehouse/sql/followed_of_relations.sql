-- Numbers and mean persuasion of greedy replies by relation and followed answer; `scored` replies have a score.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] AS follows,
    prompts AS answers, n AS scored, mean AS persuasion, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['follows']
ORDER BY ALL
