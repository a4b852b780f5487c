-- Whose answer the greedy answers of a relation give, over every context; n of the answers have a persuasion score.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] AS follows,
    prompts AS answers, n AS scored, mean AS persuasion, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['follows']
ORDER BY ALL
