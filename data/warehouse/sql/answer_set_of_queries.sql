-- Each query with its answer-set susceptibility, and with its susceptibility (NULL if not measured).
-- view
-- needs: answer_set_susceptibility, queries
SELECT
    a.model, a.dtype, a.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    a.contexts, a.answers, a.answer_set_susceptibility, a.mass,
    s.susceptibility
FROM answer_set_susceptibility AS a
JOIN queries AS q USING (relation, query_id)
LEFT JOIN susceptibility AS s USING (model, dtype, relation, query_id)
ORDER BY a.model, a.dtype, a.relation, q.query_type, q.query_id
