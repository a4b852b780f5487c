-- What each model was asked with: its label in the study, the seed, and the prompt of questions as JSON.
SELECT DISTINCT model, dtype, label, seed, prompt
FROM runs
ORDER BY ALL
