-- What contexts did to the greedy answers of a partition's questions; shares are of the instances that were measured.
-- unit: share_persuaded = share
-- unit: share_stubborn = share
SELECT
    model, dtype, "partition", condition,
    count(*) AS instances,
    count(*) FILTER (WHERE outcome <> 'unmeasured') AS measured,
    count(*) FILTER (WHERE outcome = 'persuaded') AS persuaded,
    count(*) FILTER (WHERE outcome = 'stubborn') AS stubborn,
    persuaded / nullif(measured, 0) AS share_persuaded,
    stubborn / nullif(measured, 0) AS share_stubborn
FROM instances
GROUP BY model, dtype, "partition", condition
ORDER BY model, dtype, "partition", condition
