-- Whose answer the greedy answers give, by kind of context and conflict, with the mean persuasion of these contexts.
-- Persuasion is NULL where it was not measured; why the sum is over decimals is said in persuasion_by_kind.
SELECT
    g.model, g.dtype, g.relation, q.query_type, c.kind, g.conflict, g.follows,
    count(*) AS answers,
    avg(p.persuasion::DECIMAL(38, 18)) AS persuasion
FROM greedy_answers AS g
JOIN queries AS q USING (relation, query_id)
JOIN contexts AS c USING (relation, context_id)
LEFT JOIN persuasion AS p USING (model, dtype, relation, query_id, context_id)
GROUP BY ALL
ORDER BY g.model, g.dtype, g.relation, q.query_type, c.kind, g.conflict NULLS FIRST, g.follows
