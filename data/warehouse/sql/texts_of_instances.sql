-- Each instance with the texts of question and context, and the semantic entropy of replies with the context.
-- needs: instances, questions
SELECT
    i.model, i.dtype, i."partition", i.relation, i.question_id, i.context_id, i.semantic_entropy_with,
    questions.question, contexts."text" AS "context"
FROM instances AS i
JOIN questions USING (relation, question_id)
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
ORDER BY i.model, i.dtype, i.relation, i.question_id, i.context_id
