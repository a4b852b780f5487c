-- What each variant was asked with: its label in the study, the seed, the prompt of questions and its decoding, as JSON.
-- needs: runs, variants
SELECT DISTINCT v.model, v.dtype, v.label, r.seed, v.prompt_name, v.prompt, v.decoding, v.decoding_parameters
FROM runs AS r
JOIN variants AS v USING (variant)
ORDER BY ALL
