-- Each query with its Fisher susceptibility, and with its susceptibility over contexts (NULL if not measured).
-- view
-- needs: fisher_susceptibility, queries
SELECT
    f.model, f.dtype, f.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    f.top_k, f.fisher_top_k, f.draws, f.fisher, f.fisher_standard_error,
    s.susceptibility, s.contexts
FROM fisher_susceptibility AS f
JOIN queries AS q USING (relation, query_id)
LEFT JOIN susceptibility AS s USING (model, dtype, relation, query_id)
ORDER BY f.model, f.dtype, f.relation, q.query_type, q.query_id
