-- Every relation with entities that were looked for in a corpus: the effect size of familiarity, and the mean
-- logarithms of the real entities' counts plus one. A row of the test is a query.
-- The sums are over decimals because threads add in any order, and doubles added in another order end in other digits.
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
