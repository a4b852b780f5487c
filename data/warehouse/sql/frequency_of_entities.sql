-- Every entity of a relation that was looked for in a corpus, with its counts and the mean susceptibility of its queries
-- of a type; entities whose counts do not describe them are left out.
-- The sum is over decimals because threads add in any order, and doubles added in another order end in other digits.
-- needs: frequency_of_queries
SELECT
    model, dtype, relation, query_type, entity, invented,
    any_value(entity_count) AS entity_count, any_value(pair_count) AS pair_count,
    avg(susceptibility::DECIMAL(38, 18)) AS susceptibility
FROM frequency_of_queries
WHERE excluded IS NULL
GROUP BY ALL
ORDER BY ALL
