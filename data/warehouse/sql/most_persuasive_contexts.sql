-- The ten contexts of each model and query type with the largest entity-independent persuasion, with their texts.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- needs: entity_independent_of_contexts
WITH means AS (
    SELECT
        model, dtype, query_type, "context", kind, relation, context_id,
        count(DISTINCT form) AS forms, max(entities) AS entities,
        avg(entity_independent_persuasion::DECIMAL(38, 18))::DOUBLE AS entity_independent_persuasion
    FROM entity_independent_of_contexts
    GROUP BY ALL
)
SELECT
    model, dtype, query_type,
    row_number() OVER (
        PARTITION BY model, dtype, query_type
        ORDER BY entity_independent_persuasion DESC, relation, context_id
    ) AS "rank",
    "context", kind, relation, forms, entities, entity_independent_persuasion
FROM means
QUALIFY "rank" <= 10
ORDER BY model, dtype, query_type DESC, "rank"
