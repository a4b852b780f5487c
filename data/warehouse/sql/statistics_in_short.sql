-- The tests of a comparison over all relations: how many there are, how many are significant, the mean effect size.
-- unit: share_significant = share
SELECT
    model, dtype, comparison, query_type,
    any_value(group_a) || if(any_value(alternative) = 'two-sided', ' ≠ ', ' > ') || any_value(group_b) AS asked,
    measure,
    count(*) FILTER (WHERE untestable IS NULL) AS tested,
    count(untestable) AS untestable,
    count(*) FILTER (WHERE p_adjusted < 0.05) AS significant,
    significant / nullif(tested, 0) AS share_significant,
    avg(effect_size::DECIMAL(38, 18))::DOUBLE AS mean_effect_size,
    count(effect_size) AS finite_effects
FROM statistics
GROUP BY model, dtype, comparison, measure, query_type
ORDER BY model, dtype, comparison, measure, query_type DESC
