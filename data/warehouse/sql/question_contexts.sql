-- Every context of every question: its kind, its text, and the answers that it states, in all their forms.
-- view
SELECT relation, question_id, 'original' AS context_id, 'original' AS condition, original_context AS "text", answers
FROM questions
WHERE context_ids = []
UNION ALL
SELECT relation, question_id, 'counter_memory', 'counter_memory', counter_memory_context, [replacement]
FROM questions
WHERE context_ids = []
UNION ALL
SELECT
    relation, question_id, unnest(context_ids), unnest(context_kinds), unnest(context_texts), unnest(context_answers)
FROM questions
