-- Each question, closed-book and with each context: greedy reply, verdict and scores; NULL if a measure was not run.
-- view
-- needs: questions
-- unit: samples_that_follow = share
WITH cases AS (
    SELECT
        model, dtype, relation, question_id, context_id, condition,
        string_agg(DISTINCT stand_in, '; ' ORDER BY stand_in) AS stand_in
    FROM (
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM answers
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM clusters
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM semantic_entropy
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM coherent_persuasion
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM accuracy
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM persuaded
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM whose_answer
        UNION
        SELECT model, dtype, relation, question_id, context_id, condition, stand_in FROM context_utilisation
    )
    GROUP BY model, dtype, relation, question_id, context_id, condition
),
replies AS (
    SELECT
        model, dtype, relation, question_id, context_id,
        any_value("text") FILTER (WHERE sample IS NULL AND NOT missing) AS greedy,
        max(context_cut) AS context_cut,
        count(sample) FILTER (WHERE NOT missing) AS answers,
        count(sample) FILTER (WHERE state IN ('empty', 'tool_call')) AS empty_answers,
        count(sample) FILTER (WHERE state = 'truncated') AS unfinished_answers,
        count(*) FILTER (WHERE state = 'unfinished_thoughts') AS unfinished_thoughts,
        count(*) FILTER (WHERE state = 'withheld') AS withheld,
        bool_or(state = 'truncated') FILTER (WHERE sample IS NULL) AS greedy_unfinished
    FROM (SELECT *, state IN ('withheld', 'unfinished_thoughts', 'failed', 'unrecorded', 'not_asked') AS missing FROM answers) AS answers
    GROUP BY model, dtype, relation, question_id, context_id
),
verdicts AS (
    SELECT
        model, dtype, relation, question_id, context_id,
        any_value(verdict) FILTER (WHERE sample IS NULL) AS verdict,
        any_value(reason) FILTER (WHERE sample IS NULL) AS reason,
        any_value(outcome) AS outcome,
        any_value(decided_by) FILTER (WHERE sample IS NULL) AS decided_by,
        any_value(decider) FILTER (WHERE sample IS NULL) AS decider,
        avg((verdict IN ('context', 'both'))::DOUBLE) FILTER (WHERE sample IS NOT NULL) AS samples_that_follow
    FROM stated_answers
    GROUP BY model, dtype, relation, question_id, context_id
)
SELECT
    cases.model, cases.dtype, questions."partition", cases.relation, cases.question_id,
    questions.subject, coalesce(questions.subject_id, nullif(questions.subject, ''), questions.question_id) AS subject_key,
    questions.question, cases.context_id, cases.condition, contexts.evidence_set, contexts.passage_order,
    contexts.answers <> '[]' AS states_answer,
    questions.edits, questions.subject_popularity, questions.object_popularity,
    entropy.semantic_entropy, entropy.semantic_entropy_length_normalised, entropy.semantic_entropy_rao,
    entropy.cluster_assignment_entropy,
    entropy.semantic_entropy_standard_error, entropy.semantic_entropy_length_normalised_standard_error,
    entropy.semantic_entropy_rao_standard_error, entropy.cluster_assignment_entropy_standard_error,
    entropy."groups", array_to_string(entropy.group_sizes, ', ') AS group_sizes,
    replies.context_cut, replies.answers, replies.empty_answers, replies.unfinished_answers, replies.unfinished_thoughts, replies.withheld, replies.greedy_unfinished,
    coalesce(replies.greedy, accuracy.answer) AS answer,
    accuracy.accurate,
    coherent.coherent_persuasion, coherent.coherent_persuasion_standard_error, coherent.coherent_persuasion_unchanged,
    verdicts.verdict, verdicts.reason, verdicts.outcome, verdicts.decided_by, verdicts.decider, verdicts.samples_that_follow,
    published.persuaded AS persuaded_as_published, published.stubborn AS stubborn_as_published,
    utilisation.binary_utilisation, utilisation.continuous_utilisation,
    cases.stand_in
FROM cases
JOIN questions USING (relation, question_id)
LEFT JOIN question_contexts AS contexts USING (relation, question_id, context_id)
LEFT JOIN replies USING (model, dtype, relation, question_id, context_id)
LEFT JOIN semantic_entropy AS entropy USING (model, dtype, relation, question_id, context_id)
LEFT JOIN coherent_persuasion AS coherent USING (model, dtype, relation, question_id, context_id)
LEFT JOIN accuracy USING (model, dtype, relation, question_id, context_id)
LEFT JOIN verdicts USING (model, dtype, relation, question_id, context_id)
LEFT JOIN context_utilisation AS utilisation USING (model, dtype, relation, question_id, context_id)
LEFT JOIN persuaded AS published USING (model, dtype, relation, question_id, context_id)
ORDER BY cases.model, cases.dtype, cases.relation, cases.question_id, cases.context_id
