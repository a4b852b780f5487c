-- The mean over relations of persuasion by what the greedy answer followed, over every context and by conflict.
-- needs: summaries
-- unit: share_answers = share
SELECT
    model, dtype, query_type, group_values[1] AS contexts, group_values[2] AS follows,
    prompts AS answers, share AS share_answers, n AS relations, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['contexts', 'follows']
ORDER BY ALL
