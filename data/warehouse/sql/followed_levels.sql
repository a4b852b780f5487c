-- Greedy replies that give the context's or the original answer, by level of persuasion and by entity.
-- A row by level has no entity (NULL), and a row by entity has no level (NULL).
-- needs: greedy_answers, persuasion, queries
-- unit: persuasion = nats
-- unit: level = nats
-- A level is the lower end of a range of scores. Above 1,024 replies of a relation and query type, all ranges have the
-- same width. The width is a power of 2 and at most a quarter of the standard deviation. Up to 1,024 replies, each
-- score is a level.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
WITH answers AS MATERIALIZED (
    SELECT g.model, g.dtype, g.relation, q.query_type, q.entity, g.follows, p.persuasion
    FROM greedy_answers AS g
    JOIN persuasion AS p USING (model, dtype, relation, query_id, context_id)
    JOIN queries AS q USING (relation, query_id)
    WHERE g.follows <> 'other'
),
sizes AS (
    SELECT
        model, dtype, relation, query_type,
        count(*) > 1024 AND stddev_pop(persuasion) > 0 AS many,
        pow(2, floor(log2(nullif(stddev_pop(persuasion), 0))) - 2) AS width
    FROM answers
    GROUP BY ALL
),
levels AS (
    SELECT a.*, CASE WHEN s.many THEN floor(a.persuasion / s.width) * s.width ELSE a.persuasion END AS level
    FROM answers AS a
    JOIN sizes AS s USING (model, dtype, relation, query_type)
)
SELECT
    model, dtype, relation, query_type, follows, level, entity,
    count(*) AS answers,
    avg(persuasion::DECIMAL(38, 18)) AS persuasion,
    avg((persuasion * persuasion)::DECIMAL(38, 18)) AS squared_persuasion
FROM levels
GROUP BY GROUPING SETS (
    (model, dtype, relation, query_type, follows, level),
    (model, dtype, relation, query_type, follows, entity)
)
ORDER BY ALL
