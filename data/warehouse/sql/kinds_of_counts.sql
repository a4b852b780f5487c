-- Numbers of pairs of entity and answer, by unit of the counts: words, tokens of an index, or estimates.
-- needs: frequencies
SELECT what, counted, count(*) AS pairs, (sum(count(*)) OVER (PARTITION BY what))::BIGINT AS of_pairs
FROM (
    SELECT 'the entity' AS what, entity_counted AS counted FROM frequencies
    UNION ALL
    SELECT 'the answer near it' AS what, pair_counted AS counted FROM frequencies
)
GROUP BY what, counted
ORDER BY what, counted
