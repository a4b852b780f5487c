-- Each query about an entity counted in a corpus: susceptibility, count of the entity, and count near its answer.
-- The logarithms are of the count plus one; NULL for invented entities and for excluded counts.
-- view
-- needs: frequencies, queries, susceptibility
SELECT
    s.model, s.dtype, s.relation,
    q.query_type, q.form, q.entity, q.answer, q.invented, q.query_id,
    f.entity_count, f.pair_count, f.entity_counted, f.pair_counted, f.lower_case_count, f.excluded,
    CASE WHEN NOT q.invented AND f.excluded IS NULL THEN log10(f.entity_count + 1) END AS log_entity_count,
    CASE WHEN NOT q.invented AND f.excluded IS NULL THEN log10(f.pair_count + 1) END AS log_pair_count,
    s.susceptibility
FROM susceptibility AS s
JOIN queries AS q USING (relation, query_id)
JOIN frequencies AS f ON f.entity = q.entity AND f.answer = q.answer
ORDER BY s.model, s.dtype, s.relation, q.query_type, q.query_id
