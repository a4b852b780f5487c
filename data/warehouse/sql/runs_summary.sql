-- Measures of each model, with versions, hardware, numbers of scores and prompts, seconds and forward passes.
-- If several measures share a pass, the first has all prompts, seconds and forward passes, and the others have 0.
-- needs: runs
SELECT
    r.model, r.dtype, v.label, measure, measure_version, seed, swaymeter_version, torch_version, transformers_version,
    count(DISTINCT relation) AS relations, sum("rows")::BIGINT AS "rows",
    max(parameters) AS parameters, string_agg(DISTINCT hardware, ', ' ORDER BY hardware) AS hardware, sum(prompts)::BIGINT AS prompts,
    sum(seconds::DECIMAL(38, 6))::DOUBLE AS seconds, sum(forward_passes)::BIGINT AS forward_passes
FROM runs AS r
LEFT JOIN variants AS v USING (variant)
GROUP BY ALL
ORDER BY ALL
