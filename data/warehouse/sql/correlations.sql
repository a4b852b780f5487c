-- Correlations of susceptibility with other measures, over queries, entities and relations.
-- Counts in a corpus are also correlated with the effect size of familiarity, over relations.
-- needs: correlations
SELECT *
FROM correlations
ORDER BY measure_a, measure_b, model, dtype, level, query_type
