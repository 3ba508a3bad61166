"use strict";
// Figures of the sessions in a list, from what each metric observed in each session: ratios of sums, as reports have them.
// Of a session there is the number of its sums: values, weights, value², value · weight, weight², observations, and those
// with a weight.
ciEval.sums = (rows, column, observed) => {
  const counts = new Uint32Array(observed.length);
  for (const row of rows) counts[column[row]] += 1;
  const total = [0, 0, 0, 0, 0, 0, 0];
  counts.forEach((count, number) => { if (count) observed[number].forEach((part, at) => { total[at] += count * part; }); });
  return total;
};

ciEval.ratio = ([values, weights, , , , count], without) => (count && weights ? values / weights : without);

// The 95 % interval for this project, if sessions were sampled: `figure` in ci_eval/core/statistics/sampled.py, for units
// with a largest value. Others need quantiles of Student's t, which the page does not have.
ciEval.interval = ([values, weights, upper, mixed, lower, , size], largest, asked, normal) => {
  if (asked === null || largest === null || asked >= 1 || !weights) return null;
  const [value, left, most] = [values / weights, 1 - asked, largest / 2];
  const [above, below] = [size / weights, -value * size / weights];
  const squares = Math.max(above * above * upper + 2 * above * below * mixed + below * below * lower, 0);
  const all = size + 4 * left;
  const center = (size * value + 4 * left * most) / all;
  const spread = squares + size * (value - center) ** 2 + 4 * (most ** 2 + (most - center) ** 2);
  const reach = normal * Math.sqrt(left * spread / all ** 2);
  return [Math.max(center - reach, 0), Math.min(center + reach, 1)];
};

// Rounded as Python does: of two equally near numbers the even one.
ciEval.fixed = (value, digits) => {
  const twice = value * 2 ** (digits + 1) * 5 ** digits;
  const tie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(twice % 2) === 1;
  const even = 2 * Math.round(twice / 4);
  return tie ? (even / 10 ** digits).toFixed(digits) : value.toFixed(digits);
};

ciEval.amount = (value, unit) => {
  if (value === null) return "—";
  if (unit === "share") return `${ciEval.fixed(100 * value, 1)}%`;
  return ciEval.fixed(value, unit === "score" || unit === "nats" ? 3 : 2);
};
