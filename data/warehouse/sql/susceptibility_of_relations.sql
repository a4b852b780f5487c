-- Mean susceptibility of a relation's real and invented entities, with its interval.
-- needs: summaries
SELECT
    model, dtype, relation, query_type, group_values[1] = 'invented' AS invented,
    n AS entities, mean, low, high, unit
FROM summaries
WHERE quantity = 'susceptibility' AND unit_of_analysis = 'entity' AND grouped_by = ['entities']
ORDER BY ALL
