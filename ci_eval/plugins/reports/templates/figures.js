"use strict";
// Figures of the sessions in a list, from what each metric observed in each session: ratios of sums, as reports have them.

// A simple sample is a single stratum.
ciEval.simple = (share) => ({ of: () => 0, least: share, strata: [{ weight: 1, share, asked: Infinity }] });

// The strata of these rows, with weights if they were asked in unequal shares: `weighted` in ci_eval/core/statistics/population.py.
ciEval.sample = (rows, strata, numbers) => {
  const shares = strata.map(([sessions, asked]) => asked / sessions).filter((share) => share);
  const touched = [...new Set(rows.map((row) => numbers[row]))];
  const own = touched.map((number) => ({ weight: strata[number][0] / strata[number][1], share: strata[number][1] / strata[number][0], asked: strata[number][1] }));
  const least = own.reduce((less, { share }) => Math.min(less, share), 1);
  const sample = own.some(({ share }) => least * 1.1 < share) ? { of: (row) => touched.indexOf(numbers[row]), strata: own } : ciEval.simple(least);
  return { ...sample, least: Math.min(1, ...shares) };
};

// Sums over all observations; `counts` has how often each distinct session occurs in a stratum, so that 100,000 sessions cost little.
ciEval.sums = (rows, column, observed, sample = ciEval.simple(1)) => {
  const parts = sample.strata.map((stratum) => ({ ...stratum, counts: new Uint32Array(observed.length), size: 0, count: 0 }));
  for (const row of rows) parts[sample.of(row)].counts[column[row]] += 1;
  const total = { values: 0, weights: 0, count: 0, observed, least: sample.least };
  for (const part of parts) part.counts.forEach((times, number) => {
    if (times) for (const [value, weight] of observed[number]) {
      total.values += part.weight * times * value;
      total.weights += part.weight * times * weight;
      part.count += times;
      if (weight) part.size += times;
    }
  });
  const sum = (of) => parts.reduce((all, part) => all + of(part), 0);
  const size = sum((part) => part.weight * part.size) ** 2 / sum((part) => part.weight ** 2 * part.size) || 0;
  return { ...total, size, count: sum((part) => part.count), parts: parts.filter((part) => part.count) };
};

ciEval.ratio = ({ values, weights, count }, without) => (count && weights ? values / weights : without);

// How many standard errors a 95 % interval reaches to each side, by Student's t with `df` >= 1 degrees of freedom. With
// x = √df · tan(angle), its probability is the integral of cos^(df - 1) up to the angle, divided by that up to π / 2.
ciEval.errors = (df) => {
  if (df >= 1e5) return 1.959963984540054;
  const under = (power, to) => {
    const [steps, width] = [1000, to / 1000];
    let sum = 0;
    for (let step = 0; step <= steps; step += 1) sum += (step % steps ? 2 + 2 * (step % 2) : 1) * Math.cos(step * width) ** power;
    return sum * width / 3;
  };
  // Simpson's rule needs a curve with a smooth end at π / 2, and without a long end near 0.
  const whole = (power) => (power < 20 ? whole(power + 2) * (power + 2) / (power + 1) : under(power, Math.min(Math.PI / 2, 12 / Math.sqrt(power))));
  const aim = 0.95 * whole(df - 1);
  let angle = 0;
  // Newton's method never overshoots if it starts on the left of a concave curve.
  for (let step = 0; step < 100; step += 1) {
    const further = (aim - under(df - 1, angle)) / Math.cos(angle) ** (df - 1);
    angle += further;
    if (Math.abs(further) < 1e-13) break;
  }
  return Math.sqrt(df) * Math.tan(angle);
};

// The 95 % interval for this project, as by `figure` in ci_eval/core/statistics/sampled.py (and `pool`, if there are
// several strata); null if there is no interval, or if its width is 0.
ciEval.interval = ({ values, weights, size, parts, observed, least }, { asked }, { limits: [lowest, highest] }) => {
  if (asked === null || !weights) return null;
  const fewest = parts.reduce((less, { share }) => Math.min(less, share), 1);
  const [value, left] = [values / weights, 1 - asked * fewest / least];
  if (left <= 0) return null;
  const bounded = lowest !== null && highest !== null && lowest <= value && value <= highest;
  if (size < 3 || (!bounded && size < 200)) return null;
  let [squares, alone, fourths, upper] = [0, 0, 0, 0];
  for (const { weight, share, asked: whole, counts } of parts) {
    let [sum, own] = [0, 0];
    counts.forEach((times, number) => {
      if (times) for (const [above, below] of observed[number]) {
        const residual = above - value * below;
        upper += times * (weight * above) ** 2;
        sum += times * residual;
        own += times * residual ** 2;
        fourths += times * (weight * residual) ** 4;
      }
    });
    alone += weight ** 2 * own;
    squares += weight ** 2 * (parts.length > 1 ? (asked ? (1 - share) / (1 - fewest) : 1) * (own - sum ** 2 / (whole + 1)) * (whole + 1) / whole : own);
  }
  // If all sessions are alike, rounding may leave a small number.
  if (!bounded && alone <= 1e-9 * upper) return null;
  const [middle, most] = bounded ? [(lowest + highest) / 2, (highest - lowest) / 2] : [value, 1];
  const all = size + 4 * left;
  const center = (size * value + 4 * left * middle) / all;
  const spread = squares * (size / weights) ** 2 + size * (value - center) ** 2 + 4 * (most ** 2 + (middle - center) ** 2);
  const error = Math.sqrt(left * spread / all ** 2);
  const reach = error * ciEval.errors(bounded ? Infinity : Math.max(alone ** 2 / fourths, 1));
  return ciEval.within([lowest, highest], center - reach, center + reach, value);
};

// The part of an interval within the limits of a metric, extended to the figure.
ciEval.within = ([lowest, highest], low, high, value) => [Math.min(Math.max(low, lowest ?? -Infinity), value), Math.max(Math.min(high, highest ?? Infinity), value)];

// The 95 % interval for other code: `figures` in ci_eval/core/statistics/clustered.py; null for one cluster, and for clusters that are alike.
ciEval.elsewhere = (rows, column, { observed, clusters }, files, { limits }, { of, strata } = ciEval.simple(1)) => {
  const sessions = observed.map((seen) => seen.reduce(([above, below, count], [value, weight]) => [above + value, below + weight, count + 1], [0, 0, 0]));
  const size = clusters.length ? clusters.reduce((most, cluster) => Math.max(most, cluster)) + 1 : 0;
  const [above, below, counts] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  for (const row of rows) {
    const [cluster, seen, { weight }] = [clusters[files[row]], sessions[column[row]], strata[of(row)]];
    above[cluster] += weight * seen[0];
    below[cluster] += weight * seen[1];
    counts[cluster] += seen[2];
  }
  const [values, weights, squared] = [above.reduce((sum, part) => sum + part, 0), below.reduce((sum, part) => sum + part, 0), below.reduce((sum, part) => sum + part * part, 0)];
  const [value, effective] = [values / weights, weights ** 2 / squared];
  let [squares, fourths, number] = [0, 0, 0];
  counts.forEach((count, cluster) => {
    if (!count) return;
    const deviation = (values - above[cluster]) / (weights - below[cluster]) - value;
    squares += deviation ** 2;
    fourths += deviation ** 4;
    number += 1;
  });
  if (!Number.isFinite(squares) || !(fourths > 0)) return null;
  const reach = Math.sqrt(squares * (1 - 1 / number)) * ciEval.errors(Math.max(Math.min(2 * squares ** 2 / fourths, effective - 1), 1));
  const [lowest, highest] = limits;
  if (lowest === null || highest === null || value <= lowest || value >= highest) return ciEval.within(limits, value - reach, value + reach, value);
  const span = highest - lowest;
  const share = (value - lowest) / span;
  const [odds, factor] = [share / (1 - share), Math.exp(Math.min(reach / span / (share * (1 - share)), 300))];
  return [odds / factor, odds * factor].map((end) => lowest + span * (end / (1 + end)));
};

// The difference of two sides whose sessions were all asked, with its verdict; null if it may not be exact.
ciEval.exact = (rows, [base, fresh], [before, after], { observed, unseen }, { better, floor, margin, span }) => {
  if (unseen === null || !before.weights || !after.weights) return null;
  const sums = observed.map((seen) => seen.reduce(([above, below], [value, weight]) => [above + value, below + weight], [0, 0]));
  let changes = 0;
  for (const row of rows) {
    const sides = [sums[base[row]], sums[fresh[row]]];
    if (sides[0].some((sum, at) => sum !== sides[1][at])) changes += 1;
  }
  // The possible error of the difference, although answers agreed in all rounds.
  const widen = unseen * span;
  const difference = changes ? after.values / after.weights - before.values / before.weights : 0;
  const size = Math.abs(difference);
  const moved = (difference > 0) === (better === "higher") ? "better" : "worse";
  const verdict = better === "neither" ? "not comparable" : size > widen && size >= floor ? moved : size + widen < margin ? "equivalent" : "no difference shown";
  return { difference, verdict };
};

// Round as Python does: of two equally near numbers, take the even one.
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

ciEval.change = (difference, unit) => {
  const [scale, digits] = unit === "share" ? [100, 2] : [1, unit === "score" || unit === "nats" ? 4 : 2];
  const text = ciEval.fixed(Math.abs(scale * difference), digits);
  // A difference that rounds to 0 has no direction.
  return `${Number(text) ? (difference < 0 ? "-" : "+") : "±"}${text}${unit === "share" ? " pp" : ""}`;
};
