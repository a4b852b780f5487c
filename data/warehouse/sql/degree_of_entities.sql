-- Every entity of a graph under a relation, with its degrees and the mean susceptibility of its queries of a type.
-- The sum is over decimals because threads add in any order, and doubles added in another order end in other digits.
-- needs: degree_of_queries
SELECT
    model, dtype, relation, query_type, entity, invented,
    any_value(degree) AS degree, any_value(relation_degree) AS relation_degree,
    avg(susceptibility::DECIMAL(38, 18)) AS susceptibility
FROM degree_of_queries
WHERE degree IS NOT NULL AND relation_degree IS NOT NULL
GROUP BY ALL
ORDER BY ALL
