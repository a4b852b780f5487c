-- Each model at an endpoint, with the server's description, the form of prompts, and the time of its oldest replies.
-- needs: runs
SELECT model, dtype, string_agg(DISTINCT hardware, ', ' ORDER BY hardware) AS "server", min(finished_at) AS oldest_answer
FROM runs
WHERE dtype = 'served'
GROUP BY model, dtype
ORDER BY ALL
