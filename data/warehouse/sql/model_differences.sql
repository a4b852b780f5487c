-- How every two models differ on the same items: paired differences with intervals, clustered by question or entity.
-- needs: model_differences
SELECT * EXCLUDE (relation)
FROM model_differences
ORDER BY quantity, condition, query_type, model, dtype, against_model, against_dtype
