-- Each query with its wording, susceptibility over contexts and Fisher susceptibility; NULL if a score is missing.
-- If Fisher susceptibility was not computed over the whole vocabulary, `fisher` is over the likeliest tokens.
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
