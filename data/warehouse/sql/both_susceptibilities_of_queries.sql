-- Every query with its susceptibility over contexts and its Fisher susceptibility, and how it is worded; NULL if one was not measured.
-- view
-- needs: queries
-- unit: fisher = nats per squared embedding unit
SELECT
    model, dtype, relation,
    q.query_type, q.form, CASE WHEN contains(replace(q."text", q.entity, ''), '?') THEN 'question' ELSE 'completion' END AS wording,
    q.entity, q.invented, query_id,
    s.contexts, s.susceptibility, coalesce(f.fisher, f.fisher_top_k) AS fisher
FROM susceptibility AS s
FULL JOIN fisher_susceptibility AS f USING (model, dtype, relation, query_id)
JOIN queries AS q USING (relation, query_id)
ORDER BY model, dtype, relation, q.query_type, query_id
