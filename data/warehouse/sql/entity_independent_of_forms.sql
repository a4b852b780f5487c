-- Mean entity-independent persuasion over the contexts of a relation, by query form, with intervals.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1]::BIGINT AS form, items AS contexts, mean, low, high, unit
FROM summaries
WHERE quantity = 'entity_independent_persuasion' AND grouped_by = ['form']
ORDER BY ALL
