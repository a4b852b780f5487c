-- Each variant with its label, seed and decoding, and its prompt for questions; prompt and parameters are JSON.
-- needs: runs, variants
SELECT DISTINCT v.model, v.dtype, v.label, r.seed, v.prompt_name, v.prompt, v.decoding, v.decoding_parameters
FROM runs AS r
JOIN variants AS v USING (variant)
ORDER BY ALL
