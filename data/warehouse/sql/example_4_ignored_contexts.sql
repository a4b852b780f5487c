-- Where did a model keep its own answer although the context stated another?
SELECT
    a.model, a.dtype, a.question, rtrim(c."text", chr(10)) AS context,
    c.answers AS context_answers, a.answer
FROM answers_of_questions AS a
JOIN question_contexts AS c USING (relation, question_id, context_id)
WHERE a.outcome = 'stubborn' AND a.condition IN ('counter_memory', 'conflicting')
ORDER BY a.model, a.dtype, a.relation, a.question
LIMIT 20
