-- The answers that follow the context or stay the original, by level of persuasion (entity NULL) and by entity (level NULL).
-- needs: greedy_answers, persuasion, queries
-- unit: persuasion = nats
-- unit: level = nats
-- A level is the beginning of a range of scores. In a relation and query type with over 1,024 answers, all ranges have
-- the same width, a power of 2 that is at most a quarter of the standard deviation. With fewer answers, every score is
-- a level.
-- Sums are over decimals because threads add in any order, and doubles added in another order end in other digits.
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
