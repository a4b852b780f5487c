-- Each query about a labelled entity or pair, with its susceptibility under each model.
-- view
-- needs: queries, susceptibility
SELECT
    s.model, s.dtype, s.relation,
    q.query_type, q.form, q.entity, q.label, q.type, q.query_id,
    s.contexts, s.susceptibility
FROM susceptibility AS s
JOIN queries AS q USING (relation, query_id)
WHERE q.label IS NOT NULL
ORDER BY s.model, s.dtype, s.relation, q.query_type, q.query_id
