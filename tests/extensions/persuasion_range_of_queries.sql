-- Every query with its persuasion range; a name of more than 8 characters is long.
SELECT
    r.model, r.dtype, r.relation,
    q.query_type, q.form, q.entity, q.query_id,
    CASE WHEN length(q.entity) > 8 THEN 'long' ELSE 'short' END AS name_length,
    r.persuasion_range
FROM persuasion_range AS r
JOIN queries AS q USING (relation, query_id)
ORDER BY r.model, r.dtype, r.relation, q.query_type, q.query_id
