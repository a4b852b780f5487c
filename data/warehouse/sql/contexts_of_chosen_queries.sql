-- Contexts of the chosen queries, by mean persuasion over models, with the greedy reply if measured.
-- Of a query with over 12 contexts, only the six most and the three least persuasive are in the result.
-- A kind is base, assertive or negation; the kind of a labelled context is its label with its strength.
-- Rows are chosen by id before the join with the columns that all rows of a file share.
-- needs: chosen_queries, contexts, persuasion
WITH scored AS MATERIALIZED (
    SELECT p.model, p.dtype, p.relation, p.query_id, p.context_id, p.relevant, p.persuasion
    FROM persuasion AS p
    SEMI JOIN chosen_queries USING (relation, query_id)
    WHERE p.query_id IN (SELECT query_id FROM chosen_queries)
),
ranked AS (
    SELECT
        relation, query_id, context_id,
        row_number() OVER (
            PARTITION BY relation, query_id ORDER BY avg(persuasion::DECIMAL(38, 18)) DESC, context_id
        ) AS place,
        count(*) OVER (PARTITION BY relation, query_id) AS places
    FROM scored
    GROUP BY relation, query_id, context_id
)
SELECT
    s.model, s.dtype, r.relation, r.query_id, r.place, r.places,
    c.context_id, c."text", coalesce(c.label || coalesce(' ' || nullif(c.strength, 0), ''), c.kind) AS kind, s.relevant, s.persuasion, g."text" AS greedy, g.follows
FROM ranked AS r
JOIN scored AS s USING (relation, query_id, context_id)
JOIN contexts AS c USING (relation, context_id)
LEFT JOIN greedy_answers AS g USING (model, dtype, relation, query_id, context_id)
WHERE r.places <= 12 OR r.place <= 6 OR r.place > r.places - 3
ORDER BY r.relation, r.query_id, r.place, s.model, s.dtype
