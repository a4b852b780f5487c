-- Where did a model hold on to its own answer although the context said another? With the words of both.
SELECT
    s.model, s.dtype, q.question, rtrim(q.counter_memory_context, chr(10)) AS context,
    s.context_answer, s.answer_without, s.answer_with
FROM persuaded AS s
JOIN questions AS q USING (relation, question_id)
WHERE s.stubborn AND s.condition = 'counter_memory'
ORDER BY s.model, s.dtype, s.relation, q.question
LIMIT 20
