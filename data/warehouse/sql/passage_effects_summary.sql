-- Effects of position, length, date and further passages on stated answers: paired differences for the same questions.
-- needs: passage_effects
SELECT
    model, dtype, effect, evidence_set, kind, a, b, n, clusters, mean_a, mean_b, difference, low, high, unit, p,
    p_adjusted, direction, untestable
FROM passage_effects
ORDER BY ALL
