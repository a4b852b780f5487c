-- Each context of a question that has replies; JSON lists have the context's stated answers and the right answers.
-- needs: answers, question_contexts, questions
SELECT
    contexts.question_id, contexts.context_id, contexts.condition, contexts."text", contexts.answers,
    to_json(questions.answers)::VARCHAR AS right_answers
FROM question_contexts AS contexts
JOIN questions USING (relation, question_id)
SEMI JOIN answers USING (relation, question_id)
ORDER BY contexts.relation, contexts.question_id, contexts.condition, contexts.context_id
