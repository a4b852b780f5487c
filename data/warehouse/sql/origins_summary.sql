-- Which weights, device and engine computed the scores of each model and measure.
SELECT model, dtype, measure, model_revision, device, engine, stand_in, sum(stored)::BIGINT AS stored
FROM scored
GROUP BY ALL
ORDER BY ALL
