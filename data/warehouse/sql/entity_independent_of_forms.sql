-- The mean of contexts' entity-independent persuasion before each query form of a relation: how far its contexts persuade.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1]::BIGINT AS form, items AS contexts, mean, low, high, unit
FROM summaries
WHERE quantity = 'entity_independent_persuasion' AND grouped_by = ['form']
ORDER BY ALL
