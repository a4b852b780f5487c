-- Each stored file of scores, with its measure, time and versions; `asked_with` has the prompt.
-- needs: runs
SELECT r.relation, r.model, v.label, r.* EXCLUDE (relation, model, variant)
FROM runs AS r
LEFT JOIN variants AS v USING (variant)
ORDER BY r.started_at, r.model, r.dtype, r.relation, r.measure
