-- The contexts that persuade most whatever the entity, in their own words: ten of each model and query type.
-- The sum is over decimals because threads add in any order, and doubles added in another order end in other digits.
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
