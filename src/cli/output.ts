import { Chalk } from 'chalk';
import measure from 'fast-string-truncated-width';
import { escaped } from './escape.ts';

type Cell = string | number | boolean | readonly string[] | null | undefined;

/** What a person sees of a view: titles, each with the value under it. */
export type Fields<View> = readonly (readonly [title: string, value: (view: View) => Cell])[];

/** Where results go, and how much of a terminal it is. */
interface Screen {
  write(text: string): void;
  /** Width to fit into; infinite in a pipe. */
  columns: number;
  colour: boolean;
}

/** The screen that the process writes its results to. */
export function standardOutput(stream: NodeJS.WriteStream = process.stdout): Screen {
  const terminal = stream.isTTY === true;
  return {
    write: (text) => stream.write(text),
    columns: terminal ? (stream.columns ?? 80) : Number.POSITIVE_INFINITY,
    // chalk itself does not ask NO_COLOR.
    colour: terminal && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  };
}

/** Prints a view as JSON: one line in a pipe, indented on a terminal. */
export function printJson(view: unknown, screen: Screen): void {
  const text = JSON.stringify(view, null, Number.isFinite(screen.columns) ? 2 : 0);
  // Line breaks are the indentation's own; inside strings JSON has escaped them already.
  screen.write(`${text.split('\n').map(escaped).join('\n')}\n`);
}

/** Prints views as a table; values that do not fit a terminal end with `…`, identifiers never do. */
export function printTable<View>(views: readonly View[], fields: Fields<View>, screen: Screen): void {
  const titles = fields.map(([title]) => title.toUpperCase());
  const rows = views.map((view) => fields.map(([, value]) => shown(value(view))));
  const widths = widthsWithin(titles, rows, screen.columns);
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 });
  const line = (cells: string[]): string => {
    return cells
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  };
  screen.write(`${chalk.bold(line(titles))}\n${rows.map((row) => `${line(row)}\n`).join('')}`);
}

/** Prints one view, a title and a value a line. */
export function printBlock<View>(view: View, fields: Fields<View>, screen: Screen): void {
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 });
  const widest = Math.max(...fields.map(([title]) => title.length));
  for (const [title, value] of fields) {
    screen.write(`${chalk.bold(`${title}:`.padEnd(widest + 1))}  ${shown(value(view))}\n`);
  }
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell === 'object') return cell.length === 0 ? '-' : escaped(cell.join(', '));
  return escaped(String(cell));
}

/** The width of each column; the widest shrink first until all fit. */
function widthsWithin(titles: string[], rows: string[][], columns: number): number[] {
  const widths = titles.map((title, at) =>
    Math.max(...[title, ...rows.map((row) => row[at] ?? '')].map(width)),
  );
  const gaps = 2 * (widths.length - 1);
  while (widths.reduce((sum, each) => sum + each, gaps) > columns) {
    const yielding = widths.map((each, at) => (titles[at] === 'ID' ? 0 : each));
    const widest = Math.max(...yielding);
    if (widest <= 8) break;
    widths[yielding.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function pad(text: string, columns: number): string {
  const cut = measure(text, { limit: columns, ellipsis: '…' });
  const kept = cut.truncated ? `${text.slice(0, cut.index)}${cut.ellipsed ? '…' : ''}` : text;
  return kept + ' '.repeat(Math.max(0, columns - width(kept)));
}

function width(text: string): number {
  return measure(text).width;
}
