-- Mean persuasion of each query by label and strength of contexts, separately for contexts that mention its entity.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- needs: contexts, persuasion, queries
WITH labelled AS (
    SELECT relation, context_id, label, strength FROM contexts WHERE label IS NOT NULL
),
means AS (
    SELECT
        p.model, p.dtype, p.relation, p.query_id, c.label, c.strength, p.relevant,
        count(*) AS contexts,
        avg(p.persuasion::DECIMAL(38, 18))::DOUBLE AS persuasion
    FROM persuasion AS p
    JOIN labelled AS c USING (relation, context_id)
    GROUP BY ALL
)
SELECT
    m.model, m.dtype, m.relation,
    q.query_type, q.form, q.entity, q.label, q.type, q.query_id,
    m.label AS context_label, m.strength, m.relevant, m.contexts, m.persuasion
FROM means AS m
JOIN queries AS q USING (relation, query_id)
WHERE q.label IS NOT NULL
ORDER BY m.model, m.dtype, m.relation, q.query_type, q.query_id, m.label, m.strength, m.relevant
