-- Numbers of contexts before query forms (`rows`), contexts, relations and entities behind each model's
-- entity-independent persuasion.
-- needs: entity_independent_of_contexts
SELECT
    model, dtype,
    count(*) AS "rows",
    count(DISTINCT context_id) AS contexts,
    count(DISTINCT relation) AS relations,
    min(entities) AS fewest_entities,
    max(entities) AS most_entities
FROM entity_independent_of_contexts
GROUP BY model, dtype
ORDER BY model, dtype
