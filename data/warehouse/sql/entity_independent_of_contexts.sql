-- How far every context moves every query form, whichever entity it asks about, with the context's own words.
-- view
-- Its template is its wording with slots: the longer one of entity and object is replaced first, as it may have the other.
SELECT
    e.model, e.dtype, e.relation, e.query_type, e.form,
    c.context_id, c.kind, rtrim(c."text", chr(10)) AS "context",
    if(
        length(c.entity) >= length(c.object),
        replace(replace("context", c.entity, '{entity}'), c.object, '{answer}'),
        replace(replace("context", c.object, '{answer}'), c.entity, '{entity}')
    ) AS template,
    e.entities, e.entity_independent_persuasion
FROM entity_independent_persuasion AS e
JOIN contexts AS c USING (relation, context_id)
ORDER BY e.model, e.dtype, e.relation, e.query_type, e.form, c.context_id
