-- Mean semantic entropy, without or with the context, and mean coherent persuasion by outcome.
-- The means are over instances with both scores.
-- needs: summaries
SELECT
    entropy.model, entropy.dtype, entropy.quantity AS entropy,
    entropy.group_values[1] AS condition, entropy.group_values[2] AS "partition", entropy.group_values[3] AS outcome,
    entropy.n AS instances, entropy.mean AS mean_semantic_entropy, effects.mean AS mean_coherent_persuasion,
    entropy.unit
FROM summaries AS entropy
JOIN summaries AS effects
    ON effects.model = entropy.model AND effects.dtype = entropy.dtype AND effects.quantity = 'coherent_persuasion'
    AND effects.group_values = list_append(entropy.group_values, entropy.quantity)
WHERE entropy.grouped_by = ['condition', 'partition', 'outcome']
ORDER BY ALL
