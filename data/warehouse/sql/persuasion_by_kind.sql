-- Mean persuasion of each query by context type, separately for contexts that mention its entity.
-- view
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- The queries are joined last: grouping tens of millions of rows by texts takes ten times as long.
-- needs: contexts, persuasion, queries
WITH means AS (
    SELECT
        p.model, p.dtype, p.relation, p.query_id, c.kind, p.relevant,
        count(*) AS contexts,
        avg(p.persuasion::DECIMAL(38, 18)) AS persuasion
    FROM persuasion AS p
    JOIN contexts AS c USING (relation, context_id)
    GROUP BY ALL
)
SELECT
    m.model, m.dtype, m.relation,
    q.query_type, q.form, q.entity, q.invented, q.query_id,
    m.kind, m.relevant, m.contexts, m.persuasion
FROM means AS m
JOIN queries AS q USING (relation, query_id)
ORDER BY m.model, m.dtype, m.relation, q.query_type, q.query_id, m.kind, m.relevant
