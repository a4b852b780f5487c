-- Every greedy answer that was judged, with the judge's verdict (NULL: none) beside the rule's, and what is looked for.
SELECT
    judged.model, judged.dtype, judged.relation, judged.question_id, judged.context_id, judged.condition,
    coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    judged.judge, judged.answer_kind, judged.verdict, judged.log_probability, judged.unjudged, judged.rule, judged.agree
FROM judged_answers AS judged
JOIN questions USING (relation, question_id)
WHERE judged.sample IS NULL
ORDER BY judged.model, judged.dtype, judged.relation, judged.question_id, judged.context_id
