-- Greedy answers under each condition, and how many are undecided: neither rule nor judge nor person decided whose they state.
SELECT
    model, dtype, condition, count(*) AS greedy_answers, count(*) FILTER (WHERE decided_by IS NULL) AS undecided
FROM stated_answers
WHERE sample IS NULL
GROUP BY model, dtype, condition
ORDER BY model, dtype, condition
