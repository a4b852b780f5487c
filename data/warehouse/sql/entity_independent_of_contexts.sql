-- How far every context moves every query form, whichever entity it asks about, with the context's own words.
-- view
-- Its template is its wording with slots. The longer one of entity and object is replaced first, because it may have
-- the other. Whole words are replaced: the name W is no part of Without.
-- needs: contexts, entity_independent_persuasion
WITH scored AS (
    SELECT relation, context_id, kind, rtrim("text", chr(10)) AS "context", entity, "object", template
    FROM contexts
    SEMI JOIN entity_independent_persuasion USING (relation, context_id)
),
named AS (  -- without a template; a pattern takes milliseconds to compile
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
