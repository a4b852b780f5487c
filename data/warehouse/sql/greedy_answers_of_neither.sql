-- Greedy answers that state neither answer, by the reason, with contexts that state one; `greedy_answers` are all such;
-- `of_all_variants` those of every variant, also of one whose answers all state one.
SELECT
    said.model, said.dtype, sum(count(*)) OVER (PARTITION BY said.model, said.dtype)::BIGINT AS greedy_answers,
    said.reason, count(*) AS answers, sum(count(*)) OVER ()::BIGINT AS of_all_variants
FROM stated_answers AS said
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
WHERE said.sample IS NULL AND said.condition <> 'none' AND contexts.answers IS DISTINCT FROM '[]'
GROUP BY said.model, said.dtype, said.reason
QUALIFY said.reason IS NOT NULL
ORDER BY said.model, said.dtype, count(*) DESC, said.reason
