-- Each query with its memorization ratios, and with its susceptibility (NULL if not measured).
-- view
-- needs: memorization_ratio, queries
SELECT
    m.model, m.dtype, m.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    m.original, m.substitute, m.memorization_ratio,
    m.negation_original, m.negation_substitute,
    m.all_original, m.all_substitute, m.memorization_ratio_all,
    s.susceptibility
FROM memorization_ratio AS m
JOIN queries AS q USING (relation, query_id)
LEFT JOIN susceptibility AS s USING (model, dtype, relation, query_id)
ORDER BY m.model, m.dtype, m.relation, q.query_type, q.query_id
