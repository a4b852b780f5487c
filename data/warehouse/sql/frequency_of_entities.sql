-- Each entity counted in a corpus, with its counts and its queries' mean susceptibility, by relation and query type.
-- Entities whose counts do not describe them are left out.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- needs: frequency_of_queries
SELECT
    model, dtype, relation, query_type, entity, invented,
    any_value(entity_count) AS entity_count, any_value(pair_count) AS pair_count,
    avg(susceptibility::DECIMAL(38, 18)) AS susceptibility
FROM frequency_of_queries
WHERE excluded IS NULL
GROUP BY ALL
ORDER BY ALL
