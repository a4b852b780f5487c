-- Each reply with the verdict that counts: a person's (`judgement`), else a judge's, else the rule's.
-- `decider` names the person or the judge.
-- view
-- needs: whose_answer
SELECT
    rule.* EXCLUDE (verdict, decided_by, reason, outcome),
    rule.verdict AS rule,
    coalesce(decided.verdict, rule.verdict) AS verdict,
    CASE WHEN decided.question_id IS NULL THEN rule.decided_by ELSE decided.decided_by END AS decided_by,
    CASE WHEN decided.question_id IS NULL THEN rule.reason ELSE decided.reason END AS reason,
    CASE WHEN decided.question_id IS NULL THEN rule.outcome ELSE decided.outcome END AS outcome,
    decided.judgement, decided.decider,
    coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    contexts.evidence_set, contexts.passage_order
FROM whose_answer AS rule
LEFT JOIN decided_answers AS decided ON
    decided.model = rule.model AND decided.dtype = rule.dtype AND decided.relation = rule.relation
    AND decided.question_id = rule.question_id AND decided.context_id = rule.context_id
    AND decided.sample IS NOT DISTINCT FROM rule.sample
LEFT JOIN questions ON questions.relation = rule.relation AND questions.question_id = rule.question_id
LEFT JOIN question_contexts AS contexts ON
    contexts.relation = rule.relation AND contexts.question_id = rule.question_id AND contexts.context_id = rule.context_id
