-- How long greedy answers are, by what stands before the question.
SELECT model, dtype, condition, count(*) AS answers, round(avg(words), 1) AS words
FROM answer_length
GROUP BY ALL
ORDER BY ALL
