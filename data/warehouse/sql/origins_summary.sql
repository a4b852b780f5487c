-- Weights, device and engine that computed the scores of each model and measure, with the number of scores.
SELECT model, dtype, measure, model_revision, device, engine, stand_in, sum(stored)::BIGINT AS stored
FROM scored
GROUP BY ALL
ORDER BY ALL
