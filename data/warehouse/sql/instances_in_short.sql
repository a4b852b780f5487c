-- Coherent persuasion of a partition's questions under a context, with its interval and quantiles.
SELECT
    model, dtype, group_values[1] AS condition, group_values[2] AS "partition",
    n AS instances, mean, low, high, median, smallest, largest, unit
FROM summaries
WHERE quantity = 'coherent_persuasion' AND grouped_by = ['condition', 'partition']
ORDER BY ALL
