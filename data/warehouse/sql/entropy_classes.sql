-- Each class of semantic entropy with the context: its number and share of instances by partition, and its bounds.
-- needs: summaries
-- unit: share_instances = share
-- unit: low_up_to = nats
-- unit: middle_from = nats
-- unit: middle_up_to = nats
-- unit: high_from = nats
SELECT
    model, dtype, group_values[1] AS entropy_class, group_values[2] AS "partition",
    n AS instances, share AS share_instances, mean, smallest, largest, unit,
    group_values[3] AS cut, group_values[4]::DOUBLE AS low_up_to, group_values[5]::DOUBLE AS middle_from,
    group_values[6]::DOUBLE AS middle_up_to, group_values[7]::DOUBLE AS high_from
FROM summaries
WHERE quantity = 'class_semantic_entropy_with'
ORDER BY ALL
