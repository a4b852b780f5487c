-- How far every context moves every query form, whichever entity it asks about, with the context's own words.
-- view
SELECT
    e.model, e.dtype, e.relation, e.query_type, e.form,
    c.context_id, c.kind, rtrim(c."text", chr(10)) AS "context",
    e.entities, e.entity_independent_persuasion
FROM entity_independent_persuasion AS e
JOIN contexts AS c USING (relation, context_id)
ORDER BY e.model, e.dtype, e.relation, e.query_type, e.form, c.context_id
