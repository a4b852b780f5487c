-- Which contexts persuade most, in their own words? The mean is over every query of the relation.
SELECT
    p.model, p.dtype, p.relation, c.kind, rtrim(c."text", chr(10)) AS context,
    count(*) AS queries, round(avg(p.persuasion), 4) AS persuasion
FROM persuasion AS p
JOIN contexts AS c USING (relation, context_id)
GROUP BY p.model, p.dtype, p.relation, c.context_id, c.kind, c."text"
ORDER BY avg(p.persuasion) DESC, c."text"
LIMIT 20
