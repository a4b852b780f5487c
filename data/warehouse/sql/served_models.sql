-- Models at an endpoint: the form of their prompts, the server's description, and the time of its oldest answers.
-- needs: runs
SELECT model, dtype, string_agg(DISTINCT hardware, ', ' ORDER BY hardware) AS "server", min(finished_at) AS oldest_answer
FROM runs
WHERE dtype = 'served'
GROUP BY model, dtype
ORDER BY ALL
