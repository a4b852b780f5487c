-- Numbers of greedy answers that state neither answer, by the reason, after contexts that state an answer.
-- `greedy_answers`: all greedy answers of the model after such contexts. `of_all_variants`: the same, of every variant,
-- also of a variant whose greedy answers all state an answer.
-- needs: stated_answers
SELECT
    greedy.model, greedy.dtype, sum(count(*)) OVER (PARTITION BY greedy.model, greedy.dtype)::BIGINT AS greedy_answers,
    greedy.reason, count(*) AS answers, sum(count(*)) OVER ()::BIGINT AS of_all_variants
FROM stated_answers AS greedy
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
WHERE greedy.sample IS NULL AND greedy.condition <> 'none' AND contexts.answers IS DISTINCT FROM '[]'
GROUP BY greedy.model, greedy.dtype, greedy.reason
QUALIFY greedy.reason IS NOT NULL
ORDER BY greedy.model, greedy.dtype, count(*) DESC, greedy.reason
