-- Where did a model keep its own answer although the context stated another?
SELECT
    a.model, a.dtype, a.question, rtrim(q.counter_memory_context, chr(10)) AS context,
    q.replacement AS context_answer, a.answer
FROM answers_of_questions AS a
JOIN questions AS q USING (relation, question_id)
WHERE a.outcome = 'stubborn' AND a.condition = 'counter_memory'
ORDER BY a.model, a.dtype, a.relation, a.question
LIMIT 20
