-- How many of the most edited and of the most viewed instances are persuaded or stubborn, beside all instances.
WITH of_group AS (
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
    count(*) FILTER (WHERE stubborn_as_published) AS stubborn_as_published
FROM of_group
GROUP BY model, dtype, instances_of
ORDER BY model, dtype, instances_of
