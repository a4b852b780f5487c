-- Mean entity-independent persuasion by query form of a relation and by template of the context, with intervals.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1]::BIGINT AS form, group_values[2] AS kind,
    group_values[3] AS template, items AS contexts, mean, low, high, smallest, largest, unit
FROM summaries
WHERE quantity = 'entity_independent_persuasion' AND grouped_by = ['form', 'kind', 'template']
ORDER BY ALL
