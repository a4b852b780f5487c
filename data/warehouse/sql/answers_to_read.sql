-- Every answer in its words, the greedy one first: its group, its log-probability in nats, whether it ended by itself.
SELECT
    model, dtype, relation, question_id, condition,
    sample, "text", answer_group, list_sum(token_log_probs) AS log_probability, finished
FROM answers
ORDER BY model, dtype, relation, question_id, condition, sample NULLS FIRST
