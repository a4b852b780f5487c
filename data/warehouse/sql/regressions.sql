-- Each predictor of a regression of coherent persuasion on edits, page views and entropies, with both standard errors.
-- standard_error takes instances as independent; subject_standard_error lets instances of a subject be dependent.
-- needs: regressions
SELECT *
FROM regressions
ORDER BY outcome, entropies, model, dtype, "partition", condition, predictor
