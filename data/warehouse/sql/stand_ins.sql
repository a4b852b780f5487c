-- Each stand-in model and the model that it replaced, by model and measure.
SELECT DISTINCT model, dtype, measure, stand_in
FROM scored
WHERE stand_in IS NOT NULL
ORDER BY model, dtype, measure, stand_in
