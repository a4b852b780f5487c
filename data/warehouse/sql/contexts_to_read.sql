-- The contexts of the questions that have answers, with the answers that each states as a JSON list.
SELECT contexts.question_id, contexts.context_id, contexts.condition, contexts."text", contexts.answers
FROM question_contexts AS contexts
SEMI JOIN answers USING (relation, question_id)
ORDER BY contexts.relation, contexts.question_id, contexts.condition, contexts.context_id
