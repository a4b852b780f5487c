-- Paired differences of every two models on the same items, with intervals clustered by subject, question or entity.
-- needs: model_differences
SELECT * EXCLUDE (relation)
FROM model_differences
ORDER BY quantity, condition, query_type, model, dtype, against_model, against_dtype
