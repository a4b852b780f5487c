-- Outcomes of greedy replies by partition and condition: numbers and shares of questions with a context.
-- Outcomes follow from verdicts. Columns that end in _as_published, and `stubborn_by_rule`, follow from ROUGE-L, as in
-- the table persuaded. `following_stubborn`: stubborn by ROUGE-L, but follows the context by the verdict.
-- share_following and share_persuaded are of the instances whose context states an answer.
-- needs: instances
-- unit: share_following = share
-- unit: share_persuaded = share
-- unit: share_stubborn = share
-- unit: share_persuaded_as_published = share
-- unit: share_stubborn_as_published = share
SELECT
    model, dtype, "partition", condition,
    count(*) AS instances,
    count(*) FILTER (WHERE outcome <> 'unmeasured') AS measured,
    count(*) FILTER (WHERE outcome = 'persuaded') AS persuaded,
    count(*) FILTER (WHERE outcome = 'agreed') AS agreed,
    count(*) FILTER (WHERE outcome = 'stubborn') AS stubborn,
    count(*) FILTER (WHERE outcome = 'other') AS other,
    count(*) FILTER (WHERE verdict = 'refusal') AS refusals,
    count(*) FILTER (WHERE outcome <> 'unmeasured' AND states_answer) AS stating,
    (persuaded + agreed) / nullif(stating, 0) AS share_following,
    persuaded / nullif(stating, 0) AS share_persuaded,
    stubborn / nullif(measured, 0) AS share_stubborn,
    count(*) FILTER (WHERE stubborn_as_published) AS stubborn_by_rule,
    count(*) FILTER (WHERE stubborn_as_published AND outcome IN ('persuaded', 'agreed')) AS following_stubborn,
    avg(persuaded_as_published::DOUBLE) AS share_persuaded_as_published,
    avg(stubborn_as_published::DOUBLE) AS share_stubborn_as_published
FROM instances
GROUP BY model, dtype, "partition", condition
ORDER BY model, dtype, "partition", condition
