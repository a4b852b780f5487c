-- What each model does, with 95% intervals: answers that follow the context, are right or refused, biases, persuasion.
SELECT
    model, dtype, substr(quantity, 7) AS quantity,
    CASE WHEN group_values[1] = 'all' THEN query_type ELSE group_values[1] END AS "group",
    n, mean, low, high, unit
FROM summaries
WHERE quantity IN (
    'model_follows', 'model_keeps', 'model_correct', 'model_refuses', 'model_context_bias', 'model_prior_bias',
    'model_binary_utilisation', 'model_continuous_utilisation',
    'model_coherent_persuasion', 'model_susceptibility'
)
ORDER BY ALL
