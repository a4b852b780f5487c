-- The verdict on each answer that counts: a person's (`row`, `who`), else the one of whose_answer.
-- view
SELECT
    rule.* EXCLUDE (verdict, decided_by, reason, outcome),
    rule.verdict AS rule,
    coalesce(hand.verdict, rule.verdict) AS verdict,
    CASE WHEN hand."row" IS NULL THEN rule.decided_by ELSE 'person' END AS decided_by,
    CASE WHEN hand.question_id IS NULL THEN rule.reason ELSE hand.reason END AS reason,
    CASE WHEN hand.question_id IS NULL THEN rule.outcome ELSE hand.outcome END AS outcome,
    hand."row", hand.who
FROM whose_answer AS rule
LEFT JOIN corrected_answers AS hand ON
    hand.model = rule.model AND hand.dtype = rule.dtype AND hand.relation = rule.relation
    AND hand.question_id = rule.question_id AND hand.context_id = rule.context_id
    AND hand.sample IS NOT DISTINCT FROM rule.sample
