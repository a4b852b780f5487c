-- The mean persuasion of every query by contexts of every kind, those that mention its entity apart.
-- The sum is over decimals because threads add in any order, and doubles added in another order end in other digits.
SELECT
    p.model, p.dtype, p.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    c.kind, p.relevant,
    count(*) AS contexts,
    avg(p.persuasion::DECIMAL(38, 18)) AS persuasion
FROM persuasion AS p
JOIN queries AS q USING (relation, query_id)
JOIN contexts AS c USING (relation, context_id)
GROUP BY ALL
ORDER BY p.model, p.dtype, p.relation, q.query_type, q.query_id, c.kind, p.relevant
