-- Every context of every question: its kind, its text, and the answers that it states, as a JSON list.
-- view
SELECT
    relation, question_id, 'original' AS context_id, 'original' AS condition, original_context AS "text",
    to_json(answers)::VARCHAR AS answers
FROM questions
WHERE context_ids = []
UNION ALL
SELECT relation, question_id, 'counter_memory', 'counter_memory', counter_memory_context, to_json([replacement])
FROM questions
WHERE context_ids = []
UNION ALL
SELECT
    relation, question_id, unnest(context_ids), unnest(context_kinds), unnest(context_texts),
    to_json(unnest(context_answers))
FROM questions
