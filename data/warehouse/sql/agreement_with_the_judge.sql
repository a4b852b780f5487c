-- How often a judge's verdicts on greedy answers are those of the rule, with 95% intervals, and Cohen's kappa.
-- kappa is NULL where judge and rule gave one verdict alone; unjudged answers are in neither.
-- unit: agree = share
-- unit: agree_low = share
-- unit: agree_high = share
SELECT
    share.model, share.dtype, share.group_values[1] AS judge, share.group_values[2] AS answer_kind,
    share.n, share.prompts - share.n AS unjudged,
    share.mean AS agree, share.low AS agree_low, share.high AS agree_high,
    kappa.mean AS kappa, kappa.low AS kappa_low, kappa.high AS kappa_high,
    share.items AS clusters, share.interval_over
FROM summaries AS share
JOIN summaries AS kappa USING (model, dtype, group_values)
WHERE share.quantity = 'agreement_with_judge' AND kappa.quantity = 'kappa_with_judge'
ORDER BY share.model, share.dtype, judge, answer_kind <> 'all', answer_kind
