-- Coherent persuasion regressed on edits, page views and entropies: a row is a predictor, with both standard errors.
-- needs: regressions
SELECT *
FROM regressions
ORDER BY outcome, entropies, model, dtype, "partition", condition, predictor
