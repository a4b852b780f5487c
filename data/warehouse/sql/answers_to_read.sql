-- Each reply with its text, cluster, log-probability (nats) and state; the greedy reply comes first.
-- The cluster is NULL for greedy and missing replies (such as unfinished thoughts), and if clusters were not measured.
-- needs: answers
SELECT
    answers.model, answers.dtype, answers.relation, answers.question_id, answers.context_id, answers.condition,
    answers.sample, answers."text", clusters.cluster AS answer_group,
    list_sum(answers.token_log_probs) AS log_probability, answers.state, answers.thoughts, answers.error
FROM answers
LEFT JOIN clusters USING (model, dtype, relation, question_id, context_id, sample)
ORDER BY answers.model, answers.dtype, answers.relation, answers.question_id, answers.context_id, answers.sample NULLS FIRST
