-- Models that a server answers for: how they are asked, what the server says of itself, and when its oldest answers came.
SELECT model, dtype, string_agg(DISTINCT hardware, ', ' ORDER BY hardware) AS "server", min(finished_at) AS oldest_answer
FROM runs
WHERE dtype = 'served'
GROUP BY model, dtype
ORDER BY ALL
