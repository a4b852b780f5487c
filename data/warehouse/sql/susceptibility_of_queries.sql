-- Each query with its susceptibility under each model.
-- view
-- needs: queries, susceptibility
SELECT
    s.model, s.dtype, s.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    s.contexts, s.susceptibility
FROM susceptibility AS s
JOIN queries AS q USING (relation, query_id)
ORDER BY s.model, s.dtype, s.relation, q.query_type, q.query_id
