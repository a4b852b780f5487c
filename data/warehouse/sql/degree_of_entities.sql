-- Each entity of a graph in a relation, with its degrees and its queries' mean susceptibility, by query type.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- needs: degree_of_queries
SELECT
    model, dtype, relation, query_type, entity, invented,
    any_value(degree) AS degree, any_value(relation_degree) AS relation_degree,
    avg(susceptibility::DECIMAL(38, 18)) AS susceptibility
FROM degree_of_queries
WHERE degree IS NOT NULL AND relation_degree IS NOT NULL
GROUP BY ALL
ORDER BY ALL
