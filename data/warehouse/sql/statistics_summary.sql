-- Tests of a comparison over relations: numbers tested, untestable and significant, reasons, and mean effect size.
-- needs: statistics
-- unit: share_significant = share
-- unit: share_low = share
-- unit: share_high = share
-- Intervals are 95%, over relations: Wilson's for the share, 1.96 standard errors on either side for the mean. Fewer
-- than 5 relations have no interval.
-- Sums are over decimals: sums of doubles depend on the order of the threads.
WITH counted AS (
    SELECT
        model, dtype, comparison, measure, test, unit_of_analysis, query_type,
        any_value(group_a) || if(any_value(alternative) = 'two-sided', ' ≠ ', ' > ') || any_value(group_b) AS asked,
        count(*) FILTER (WHERE untestable IS NULL) AS tested,
        count(untestable) AS untestable,
        string_agg(DISTINCT untestable, '; ' ORDER BY untestable) AS reasons,
        count(*) FILTER (WHERE p_adjusted <= 0.05) AS significant,
        significant / nullif(tested, 0) AS share_significant,
        avg(effect_size::DECIMAL(38, 18))::DOUBLE AS mean_effect_size,
        avg((effect_size * effect_size)::DECIMAL(38, 18))::DOUBLE AS mean_square,
        count(effect_size) AS finite_effects
    FROM statistics
    GROUP BY model, dtype, comparison, measure, test, unit_of_analysis, query_type
),
bounded AS (
    SELECT
        *,
        if(tested < 5, NULL, 1.959964) AS z,
        (share_significant + z * z / (2 * tested)) / (1 + z * z / tested) AS middle,
        z / (1 + z * z / tested)
            * sqrt(share_significant * (1 - share_significant) / tested + z * z / (4 * tested * tested)) AS share_error,
        if(finite_effects < 5, NULL, z) * sqrt(greatest(mean_square - mean_effect_size ** 2, 0) / nullif(finite_effects - 1, 0)) AS effect_error
    FROM counted
)
SELECT
    model, dtype, comparison, test, unit_of_analysis, query_type, asked, measure, tested, untestable, reasons, significant,
    share_significant, middle - share_error AS share_low, middle + share_error AS share_high,
    mean_effect_size, mean_effect_size - effect_error AS effect_low, mean_effect_size + effect_error AS effect_high,
    finite_effects
FROM bounded
ORDER BY model, dtype, comparison, measure, test, unit_of_analysis, query_type DESC
