-- Outcomes and mean scores of the most edited, of the most viewed and of all instances of each model.
-- needs: marked_instances
-- unit: mean_semantic_entropy_without = nats
-- unit: mean_semantic_entropy_with = nats
-- unit: mean_coherent_persuasion = nats
-- Sums are over decimals: sums of doubles depend on the order of the threads.
WITH grouped AS (
    SELECT 'all' AS instances_of, * FROM marked_instances
    UNION ALL
    SELECT 'most edited', * FROM marked_instances WHERE most_edited
    UNION ALL
    SELECT 'most viewed', * FROM marked_instances WHERE most_viewed
)
SELECT
    model, dtype, instances_of,
    count(*) AS instances,
    min(edits) AS fewest_edits,
    min(subject_popularity) AS fewest_views,
    count(*) FILTER (WHERE outcome = 'persuaded') AS persuaded,
    count(*) FILTER (WHERE outcome = 'stubborn') AS stubborn,
    count(*) FILTER (WHERE persuaded_as_published) AS persuaded_as_published,
    count(*) FILTER (WHERE stubborn_as_published) AS stubborn_as_published,
    avg(semantic_entropy_without::DECIMAL(38, 18)) AS mean_semantic_entropy_without,
    avg(semantic_entropy_with::DECIMAL(38, 18)) AS mean_semantic_entropy_with,
    avg(coherent_persuasion::DECIMAL(38, 18)) AS mean_coherent_persuasion
FROM grouped
GROUP BY model, dtype, instances_of
ORDER BY model, dtype, instances_of
