-- Numbers of greedy replies that state neither answer after contexts that state an answer, by reason.
-- `greedy_answers` counts all greedy replies of the model after such contexts. `of_all_variants` counts them over all
-- variants, including variants whose replies all state an answer.
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
