-- Coherent persuasion regressed on edits, page views and entropies: a row is a predictor, with both standard errors.
SELECT COLUMNS(lambda name: name <> 'file_id')
FROM regressions
ORDER BY outcome, entropies, model, dtype, "partition", condition, predictor
