-- What became no question, counted by partition, relation and reason; partition is NULL where it was not known yet.
SELECT
    "partition", relation, reason, count(*) AS candidates,
    min(coalesce(detail, '')) FILTER (WHERE coalesce(detail, '') <> '') AS example
FROM rejected
GROUP BY ALL
ORDER BY ALL
