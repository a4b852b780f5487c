-- Lengths of the names of a relation's real and invented entities, in characters and words; `all` is every relation.
-- needs: summaries
SELECT
    model, dtype, relation, unit, group_values[1] = 'invented' AS invented,
    n AS entities, mean, smallest, lower_quartile, median, upper_quartile, largest
FROM summaries
WHERE quantity = 'name_length'
ORDER BY ALL
