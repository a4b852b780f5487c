-- Each greedy reply that a judge read, with the verdicts of judge, rule and person; NULL without a verdict.
-- needs: judged_answers, questions
SELECT
    judged.model, judged.dtype, judged.relation, judged.question_id, judged.context_id, judged.condition,
    coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    judged.judge, judged.verdict, judged.log_probability, judged.unjudged, judged.rule,
    CASE WHEN decided.decided_by = 'person' THEN decided.verdict END AS person
FROM judged_answers AS judged
JOIN questions USING (relation, question_id)
LEFT JOIN decided_answers AS decided ON
    decided.model = judged.model AND decided.dtype = judged.dtype AND decided.relation = judged.relation
    AND decided.question_id = judged.question_id AND decided.context_id = judged.context_id AND decided.sample IS NULL
WHERE judged.sample IS NULL
ORDER BY judged.model, judged.dtype, judged.relation, judged.question_id, judged.context_id
