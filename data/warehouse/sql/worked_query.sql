-- An example query, with the contexts that persuade it most and least; a stated rule picks all three.
-- The query has the middle susceptibility of the first model by name. Open queries come before closed queries, and real
-- entities before invented entities.
-- needs: contexts, persuasion, queries, susceptibility
-- unit: persuasion = nats
-- unit: susceptibility = nats
WITH picked AS (
    SELECT
        s.model, s.dtype, s.relation, s.query_id, q.query_type, q.invented, s.susceptibility, s.contexts,
        count(*) OVER alike AS candidates
    FROM susceptibility AS s
    JOIN queries AS q USING (relation, query_id)
    WINDOW alike AS (PARTITION BY s.model, s.dtype, q.query_type, q.invented)
    QUALIFY row_number() OVER (alike ORDER BY s.susceptibility, s.relation, s.query_id) = (candidates + 1) // 2
    ORDER BY s.model, s.dtype, q.query_type DESC, q.invented
    LIMIT 1
),
ranked AS (
    SELECT
        p.relation, p.query_id, p.context_id, p.relevant, p.persuasion,
        row_number() OVER (ORDER BY p.persuasion DESC, p.context_id) AS place,
        count(*) OVER () AS places
    FROM persuasion AS p
    SEMI JOIN picked USING (model, dtype, relation, query_id)
    WHERE p.query_id IN (SELECT query_id FROM picked)
)
SELECT
    picked.model, picked.dtype, picked.relation, picked.query_type, picked.candidates,
    q.query_id, q."text" AS query, q.entity, q.invented, q.answer,
    picked.susceptibility, picked.contexts,
    r.place, c.context_id, c."text" AS "context",
    coalesce(c.label || coalesce(' ' || nullif(c.strength, 0), ''), c.kind) AS kind,
    c.entity AS about, c."object" AS states,
    r.relevant, r.persuasion, g."text" AS greedy, g.follows
FROM picked
JOIN queries AS q USING (relation, query_id)
JOIN ranked AS r USING (relation, query_id)
JOIN contexts AS c USING (relation, context_id)
LEFT JOIN greedy_answers AS g USING (model, dtype, relation, query_id, context_id)
WHERE r.place IN (1, r.places)
ORDER BY r.place
