-- Models that a server answers for: how they are asked, and what the server says of itself.
SELECT model, dtype, string_agg(DISTINCT hardware, ', ' ORDER BY hardware) AS "server"
FROM runs
WHERE dtype = 'served'
GROUP BY model, dtype
ORDER BY ALL
