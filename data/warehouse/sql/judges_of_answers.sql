-- Undecided greedy replies by model and judge: the numbers of replies read and left without a verdict, with reasons.
-- needs: judged_answers
SELECT
    model, dtype, judge, count(*) AS asked, count(*) FILTER (WHERE verdict IS NULL) AS unjudged,
    string_agg(DISTINCT unjudged, '; ' ORDER BY unjudged) AS reasons
FROM judged_answers
WHERE sample IS NULL AND rule IS NULL
GROUP BY model, dtype, judge
ORDER BY model, dtype, judge
