-- Each relation with entities counted in a corpus: effect size of familiarity, and mean logarithms of the counts.
-- The logarithms are of real entities' counts plus one. The unit of analysis of the effect size is a query.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
-- needs: frequency_of_queries, statistics
WITH entities AS (
    SELECT
        model, dtype, relation, query_type, entity, answer,
        any_value(log_entity_count) AS log_entity_count, any_value(log_pair_count) AS log_pair_count
    FROM frequency_of_queries
    WHERE log_entity_count IS NOT NULL
    GROUP BY ALL
)
SELECT
    model, dtype, relation, query_type, count(*) AS entities,
    avg(log_entity_count::DECIMAL(38, 18)) AS mean_log_entity_count,
    avg(log_pair_count::DECIMAL(38, 18)) AS mean_log_pair_count,
    any_value(effect_size) AS effect_size, any_value(p_adjusted) AS p_adjusted
FROM entities
JOIN statistics USING (model, dtype, relation, query_type)
WHERE comparison = 'familiarity' AND test = 'permutation' AND unit_of_analysis = 'query' AND effect_size IS NOT NULL
GROUP BY model, dtype, relation, query_type
ORDER BY model, dtype, relation, query_type
