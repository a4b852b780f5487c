-- Mean persuasion over relations by followed answer of the greedy reply, after all contexts and by conflict.
-- needs: summaries
-- unit: share_answers = share
SELECT
    model, dtype, query_type, group_values[1] AS contexts, group_values[2] AS follows,
    prompts AS answers, share AS share_answers, n AS relations, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['contexts', 'follows']
ORDER BY ALL
