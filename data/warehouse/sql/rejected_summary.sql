-- Numbers of rejected candidates by partition and reason; for some candidates, the partition was not known yet.
-- needs: rejected
SELECT
    coalesce("partition", 'not known yet') AS "partition", reason,
    count(*) AS candidates, count(DISTINCT relation) AS relations,
    (min({'relation': relation, 'detail': detail}) FILTER (WHERE detail <> '')).detail AS example
FROM rejected
GROUP BY ALL
ORDER BY "partition", candidates DESC, reason
