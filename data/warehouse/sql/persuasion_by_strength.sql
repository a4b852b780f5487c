-- How far contexts of each label and strength persuade, by the entity's label.
-- the same: contexts about the queried entity, or about both of a pair; others: all other contexts.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] AS label, group_values[2] AS about,
    group_values[3] AS context_label, nullif(group_values[4], '')::BIGINT AS strength, n AS entities, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['label', 'about', 'context_label', 'strength']
ORDER BY ALL
