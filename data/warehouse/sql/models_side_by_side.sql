-- Each model's shares of replies, such as follows, correct or refuses, its biases and persuasion, with 95% intervals.
-- needs: summaries
SELECT
    model, dtype, quantity,
    CASE WHEN group_values[1] = 'all' THEN query_type ELSE group_values[1] END AS "group",
    n, items AS clusters, mean, low, high, interval_over, unit
FROM summaries
WHERE grouped_by = ['condition'] AND quantity IN (
    'follows', 'prefers_right', 'prefers_wrong', 'names_both', 'follows_right', 'resists_wrong', 'abstains', 'keeps',
    'correct', 'refuses', 'context_bias', 'prior_bias', 'binary_utilisation', 'continuous_utilisation',
    'coherent_persuasion', 'coherent_persuasion_unchanged', 'susceptibility'
)
ORDER BY ALL
