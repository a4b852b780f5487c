-- Each greedy reply to several or numbered passages, with its citations and named conflict as 1 or 0.
-- NULL if there is nothing to judge: without a citation, without a stated answer, or without a mixed context.
-- Contexts that exceed the model's window are left out, because an unread passage cannot be cited.
-- needs: answers, cited_passages, questions
SELECT
    cited.model, cited.dtype, cited.relation, cited.question_id, cited.context_id, cited.condition,
    coalesce(questions.subject_id, nullif(questions.subject, ''), cited.question_id) AS subject_key,
    (len(cited.cited) > 0)::DOUBLE AS cites, cited.cited_exist::DOUBLE AS cited_exist,
    cited.citation_right::DOUBLE AS citation_right,
    CASE WHEN cited.condition = 'mixed' THEN cited.names_conflict::DOUBLE END AS names_conflict
FROM cited_passages AS cited
JOIN questions USING (relation, question_id)
JOIN answers AS replies USING (model, dtype, relation, question_id, context_id)
WHERE cited.sample IS NULL AND replies.sample IS NULL AND replies.context_cut = 0
ORDER BY ALL
