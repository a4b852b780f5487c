-- Each query about an entity of a graph, with its susceptibility and the entity's degrees (0 for invented entities).
-- view
-- needs: queries, susceptibility
SELECT
    s.model, s.dtype, s.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    q.degree, q.relation_degree,
    CASE WHEN q.degree > 0 THEN log10(q.degree) END AS log_degree,
    CASE WHEN q.relation_degree > 0 THEN log10(q.relation_degree) END AS log_relation_degree,
    s.susceptibility
FROM susceptibility AS s
JOIN queries AS q USING (relation, query_id)
WHERE q.degree IS NOT NULL
ORDER BY s.model, s.dtype, s.relation, q.query_type, q.query_id
