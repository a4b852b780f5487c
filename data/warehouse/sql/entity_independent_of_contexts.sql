-- Each context before each query form, with its entity-independent persuasion, its text and its template.
-- view
-- If a context has no template, the template is its text with slots for entity and object. The longer name is replaced
-- first, because it may contain the shorter name. Only whole words are replaced: the name W is not a part of Without.
-- needs: contexts, entity_independent_persuasion
WITH scored AS (
    SELECT relation, context_id, kind, rtrim("text", chr(10)) AS "context", entity, "object", template
    FROM contexts
    SEMI JOIN entity_independent_persuasion USING (relation, context_id)
),
named AS (  -- only contexts without a template, because compiling a pattern takes milliseconds
    SELECT
        relation, context_id, kind, "context",
        '(^|[^\pL\pN])' || regexp_escape(nullif(entity, '')) || '($|[^\pL\pN])' AS an_entity,
        '(^|[^\pL\pN])' || regexp_escape(nullif("object", '')) || '($|[^\pL\pN])' AS an_answer,
        coalesce(length(entity) < length("object"), false) AS answer_first
    FROM scored
    WHERE template IS NULL
),
once AS (
    SELECT
        *,
        coalesce(
            if(
                answer_first,
                regexp_replace("context", an_answer, '\1{answer}\2', 'g'),
                regexp_replace("context", an_entity, '\1{entity}\2', 'g')
            ),
            "context"
        ) AS one_slot
    FROM named
),
worded AS (
    SELECT relation, context_id, kind, "context", template
    FROM scored
    WHERE template IS NOT NULL
    UNION ALL
    SELECT
        relation, context_id, kind, "context",
        coalesce(
            if(
                answer_first,
                regexp_replace(one_slot, an_entity, '\1{entity}\2', 'g'),
                regexp_replace(one_slot, an_answer, '\1{answer}\2', 'g')
            ),
            one_slot
        ) AS template
    FROM once
)
SELECT
    e.model, e.dtype, e.relation, e.query_type, e.form,
    c.context_id, c.kind, c."context", c.template,
    e.entities, e.entity_independent_persuasion
FROM entity_independent_persuasion AS e
JOIN worded AS c USING (relation, context_id)
ORDER BY e.model, e.dtype, e.relation, e.query_type, e.form, c.context_id
