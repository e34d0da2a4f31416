/** The value at this percentile. */
export function percentile(values: number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

/** The median of the values. */
export function median(values: number[]): number {
  return percentile(values, 50);
}

/** One measured value and its goal. */
export interface Figure {
  what: string;
  /** The value with its unit. */
  seen: string;
  /** The goal, and whether it was reached; null without a goal. */
  goal: { text: string; reached: boolean } | null;
}

/**
 * Makes a figure. A goal is the least or the most that the value may be. Of several values, it shows
 * the median, and the smallest and largest.
 */
export function figure(
  what: string,
  measured: number | number[],
  unit: 'ms' | '%' | '/s' | '×' | 'MB',
  goal?: { least: number } | { most: number },
): Figure {
  const value = typeof measured === 'number' ? measured : median(measured);
  const shown = (one: number) => one.toFixed(unit === '/s' || value >= 100 ? 0 : 1);
  const spread =
    typeof measured === 'number' || measured.length < 2
      ? ''
      : ` (${shown(Math.min(...measured))}–${shown(Math.max(...measured))})`;
  const seen = `${shown(value)} ${unit}${spread}`;
  if (goal === undefined) return { what, seen, goal: null };
  return 'least' in goal
    ? { what, seen, goal: { text: `≥ ${goal.least} ${unit}`, reached: value >= goal.least } }
    : { what, seen, goal: { text: `≤ ${goal.most} ${unit}`, reached: value <= goal.most } };
}

/** The figures as a table of at most 80 columns. */
export function table(title: string, figures: Figure[]): string {
  const lines = figures.map(({ what, seen, goal }) => {
    const verdict =
      goal === null ? '' : `${goal.text.padStart(10)}  ${goal.reached ? 'ok' : 'MISSED'}`;
    return `  ${what.padEnd(40)} ${seen.padStart(18)} ${verdict}`.trimEnd();
  });
  return `\n${title}\n${lines.join('\n')}\n`;
}

/**
 * Fits a straight line to the last two thirds of a recording of times and values. Returns the mean
 * of the values, and the rise of the line from its start to its end.
 */
export function lineThrough(recorded: [number, number][]): { mean: number; rise: number } {
  const end = recorded.at(-1)?.[0] ?? 0;
  const points = recorded.filter(([time]) => time >= end / 3);
  const average = (values: number[]) =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const [x, y] = [average(points.map(([time]) => time)), average(points.map(([, value]) => value))];
  const spread = average(points.map(([time]) => (time - x) ** 2));
  const together = average(points.map(([time, value]) => (time - x) * (value - y)));
  const span = end - (points[0]?.[0] ?? 0);
  return { mean: y, rise: spread === 0 ? 0 : (together / spread) * span };
}
