-- Mean susceptibility over relations, for real and for invented entities, with its interval.
-- needs: summaries
SELECT model, dtype, query_type, group_values[1] = 'invented' AS invented, n AS relations, mean, low, high, unit
FROM summaries
WHERE quantity = 'susceptibility' AND unit_of_analysis = 'relation' AND grouped_by = ['entities']
ORDER BY ALL
