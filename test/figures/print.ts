/** The most that a figure may be. */
export interface Goal {
  most: number;
}

/** Prints a figure on a line of its own, with its goal and whether it is reached. */
export function print(name: string, value: number | string, goal?: Goal): void {
  const shown = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : value;
  const verdict = goal === undefined ? '' : `${goalText(goal)}  ${isReached(value, goal)}`;
  process.stdout.write(`${`${name.padEnd(64)} ${String(shown).padEnd(9)}${verdict}`.trimEnd()}\n`);
}

function goalText({ most }: Goal): string {
  return `goal: at most ${most}`.padEnd(20);
}

function isReached(value: number | string, { most }: Goal): string {
  return Number(value) <= most ? 'reached' : 'missed';
}

/** Prints a heading. */
export function heading(text: string): void {
  process.stdout.write(`\n${text}\n\n`);
}
