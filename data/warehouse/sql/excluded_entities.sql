-- Each entity whose counts in the corpus do not describe the entity, with the counts and the reason.
-- needs: frequencies
SELECT DISTINCT entity, entity_count, lower_case_count, excluded
FROM frequencies
WHERE excluded IS NOT NULL
ORDER BY entity_count DESC, entity
