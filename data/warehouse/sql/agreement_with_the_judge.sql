-- Agreement of each judge with the rule or with people on greedy replies: share of equal verdicts and Cohen's kappa.
-- Both have 95% intervals. kappa is NULL if only one verdict occurs.
-- needs: summaries
-- unit: agree = share
-- unit: agree_low = share
-- unit: agree_high = share
SELECT
    share.model, share.dtype, share.group_values[1] AS judge, share.group_values[2] AS against, share.n,
    share.mean AS agree, share.low AS agree_low, share.high AS agree_high,
    kappa.mean AS kappa, kappa.low AS kappa_low, kappa.high AS kappa_high,
    share.items AS clusters, share.interval_over
FROM summaries AS share
JOIN summaries AS kappa USING (model, dtype, group_values)
WHERE share.quantity = 'agreement_with_judge' AND kappa.quantity = 'kappa_with_judge'
ORDER BY share.model, share.dtype, judge, against DESC
