-- What each model was asked with: its label in the study, the seed, and the prompt of questions as JSON.
SELECT DISTINCT v.model, v.dtype, v.label, r.seed, v.prompt
FROM runs AS r
JOIN variants AS v USING (variant)
ORDER BY ALL
