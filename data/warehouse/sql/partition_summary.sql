-- Numbers and means of a partition's questions under each condition; shares are of the questions that were measured.
-- needs: answers_of_questions
-- unit: accuracy = share
-- unit: states_context_answer = share
SELECT
    model, dtype, "partition", condition,
    count(*) AS questions,
    sum(answers)::BIGINT AS answers,
    sum(empty_answers)::BIGINT AS empty_answers,
    sum(unfinished_answers)::BIGINT AS unfinished_answers,
    sum(greedy_unfinished::BIGINT)::BIGINT AS unfinished_greedy_answers,
    sum(unfinished_thoughts)::BIGINT AS unfinished_thoughts,
    sum(withheld)::BIGINT AS withheld,
    sum((context_cut > 0)::BIGINT)::BIGINT AS contexts_cut,
    avg(accurate::DOUBLE) AS accuracy,
    avg("groups") AS "groups",
    avg(semantic_entropy) AS semantic_entropy,
    avg(semantic_entropy_length_normalised) AS semantic_entropy_length_normalised,
    avg(semantic_entropy_rao) AS semantic_entropy_rao,
    avg(coherent_persuasion) AS coherent_persuasion,
    avg((verdict IN ('context', 'both'))::DOUBLE) AS states_context_answer,
    avg(samples_that_follow) AS samples_that_follow
FROM answers_of_questions
GROUP BY model, dtype, "partition", condition
ORDER BY model, dtype, "partition", condition
