-- Numbers and mean persuasion of greedy replies, by query type, followed answer, context type and conflict.
-- The mean is NULL if persuasion was not measured. The comment of persuasion_by_kind says why sums are over decimals,
-- and why the queries are joined last.
-- needs: contexts, greedy_answers, queries
WITH totals AS (
    SELECT
        g.model, g.dtype, g.relation, g.query_id, c.kind, g.conflict, g.follows,
        count(*) AS answers,
        count(p.persuasion) AS scored,
        sum(p.persuasion::DECIMAL(38, 18)) AS total
    FROM greedy_answers AS g
    JOIN contexts AS c USING (relation, context_id)
    LEFT JOIN persuasion AS p USING (model, dtype, relation, query_id, context_id)
    GROUP BY ALL
)
SELECT
    t.model, t.dtype, t.relation, q.query_type, t.kind, t.conflict, t.follows,
    sum(t.answers)::BIGINT AS answers,
    sum(t.total)::DOUBLE / nullif(sum(t.scored), 0)::DOUBLE AS persuasion
FROM totals AS t
JOIN queries AS q USING (relation, query_id)
GROUP BY ALL
ORDER BY t.model, t.dtype, t.relation, q.query_type, t.kind, t.conflict NULLS FIRST, t.follows
