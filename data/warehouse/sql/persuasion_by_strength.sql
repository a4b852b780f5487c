-- Mean persuasion by label and strength of contexts and by label of the query's entity.
-- `about` is `the same` for contexts about the query's entity, or about both of a pair, and else `others`.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] AS label, group_values[2] AS about,
    group_values[3] AS context_label, nullif(group_values[4], '')::BIGINT AS strength, n AS entities, mean, low, high, unit
FROM summaries
WHERE quantity = 'persuasion' AND grouped_by = ['label', 'about', 'context_label', 'strength']
ORDER BY ALL
