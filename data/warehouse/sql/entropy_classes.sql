-- How many instances of a partition are in each class of semantic entropy with the context, and where its bounds lie.
-- unit: share_instances = share
SELECT
    model, dtype, group_values[1] AS entropy_class, group_values[2] AS "partition",
    n AS instances, share AS share_instances, mean, smallest, largest, unit
FROM summaries
WHERE quantity = 'class_semantic_entropy_with'
ORDER BY ALL
