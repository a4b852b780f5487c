-- Stand-in models and the models that they replaced, by model and measure.
SELECT DISTINCT model, dtype, measure, stand_in
FROM scored
WHERE stand_in IS NOT NULL
ORDER BY model, dtype, measure, stand_in
