-- The verdict on each greedy reply, with the set of passages before the question and the order of these.
SELECT
    replies.model, replies.dtype, replies.condition, contexts.evidence_set, contexts.passage_order,
    coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    replies.question_id, replies.context_id, replies.verdict
FROM stated_answers AS replies
JOIN questions USING (relation, question_id)
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
WHERE replies.sample IS NULL AND replies.verdict IS NOT NULL
ORDER BY ALL
