-- An example question, closed-book and with the contexts that persuade it most and least; a stated rule picks it.
-- It is the first model's question of middle coherent persuasion over conflicting contexts. If no coherent persuasion
-- was measured, it is the middle question by name.
-- needs: answers_of_questions, questions
-- unit: coherent_persuasion = nats
-- unit: semantic_entropy = nats
WITH by_question AS (
    SELECT model, dtype, relation, question_id, max(coherent_persuasion) AS most
    FROM answers_of_questions
    WHERE condition IN ('counter_memory', 'conflicting')
    GROUP BY model, dtype, relation, question_id
),
measured AS (
    SELECT *
    FROM by_question
    QUALIFY most IS NOT NULL OR count(most) OVER (PARTITION BY model, dtype) = 0
),
moved AS (
    SELECT *, count(*) OVER (PARTITION BY model, dtype) AS candidates
    FROM measured
),
picked AS (
    SELECT *
    FROM moved
    QUALIFY
        row_number() OVER (PARTITION BY model, dtype ORDER BY most, relation, question_id) = (candidates + 1) // 2
    ORDER BY model, dtype
    LIMIT 1
),
cases AS (
    SELECT
        a.*, p.candidates,
        row_number() OVER (
            PARTITION BY a.condition = 'none' ORDER BY a.coherent_persuasion DESC NULLS LAST, a.condition, a.context_id
        ) AS place,
        coalesce(
            nullif(count(a.coherent_persuasion) OVER (PARTITION BY a.condition = 'none'), 0),
            count(*) OVER (PARTITION BY a.condition = 'none')
        ) AS places
    FROM answers_of_questions AS a
    JOIN picked AS p USING (model, dtype, relation, question_id)
)
SELECT
    a.model, a.dtype, a.relation, a."partition", a.candidates, a.question_id, a.question,
    q."object", q.replacement, a.context_id, a.condition, contexts."text" AS "context",
    a.answer AS greedy, g.state, a.answers, a."groups", a.semantic_entropy, a.coherent_persuasion, a.outcome
FROM cases AS a
JOIN questions AS q USING (relation, question_id)
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
LEFT JOIN answers AS g
    ON
        g.sample IS NULL AND (g.model, g.dtype, g.relation, g.question_id, g.context_id)
        = (a.model, a.dtype, a.relation, a.question_id, a.context_id)
WHERE a.condition = 'none' OR a.place IN (1, a.places)
ORDER BY a.condition <> 'none', a.place
