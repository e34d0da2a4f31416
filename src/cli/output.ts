import { Chalk } from 'chalk';
import measure from 'fast-string-truncated-width';
import { escaped } from './escape.ts';

type Cell = string | number | boolean | readonly string[] | null | undefined;

/** What a person sees of a view: titles, each with its value; `whole` values are never cut short. */
export type Fields<View> = readonly (readonly [title: string, value: (view: View) => Cell, cut?: 'whole'])[];

const gap = '  ';
const narrowest = 8;

interface Column {
  width: number;
  whole: boolean;
}

/** Where results go, and how much of a terminal it is. */
export interface Screen {
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

/** Prints views as a table; what does not fit a terminal ends with `…`. */
export function printTable<View>(views: readonly View[], fields: Fields<View>, screen: Screen): void {
  const columns = fields.map(([title, value, cut]) => {
    const cells = [title.toUpperCase(), ...views.map((view) => shown(value(view)))];
    const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0);
    return { cells, width, whole: cut === 'whole' };
  });
  narrow(columns, screen.columns);
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 });
  for (let row = 0; row <= views.length; row += 1) {
    const cells = columns.map(({ cells, width }) => pad(cells[row] ?? '', width));
    const line = cells.join(gap).trimEnd();
    screen.write(`${row === 0 ? chalk.bold(line) : line}\n`);
  }
}

/** Prints one view on a line, its values side by side. */
export function printLine<View>(view: View, fields: Fields<View>, screen: Screen): void {
  const line = fields.map(([, value]) => shown(value(view))).join(gap);
  screen.write(`${pad(line, Math.min(screen.columns, widthOf(line)))}\n`);
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
  // People read times to the second.
  return escaped(String(cell).replace(/(T\d\d:\d\d:\d\d)\.\d{3}Z$/, '$1Z'));
}

/** Takes width from the widest columns until the table fits; no column goes below a few characters. */
function narrow(columns: Column[], available: number): void {
  const room = available - gap.length * (columns.length - 1);
  const flexible = columns.filter(({ whole }) => !whole);
  while (columns.reduce((sum, { width }) => sum + width, 0) > room) {
    const [widest] = flexible.toSorted((a, b) => b.width - a.width);
    if (widest === undefined || widest.width <= narrowest) return;
    widest.width -= 1;
  }
}

function pad(text: string, width: number): string {
  const cut = measure(text, { limit: width, ellipsis: '…' });
  const kept = cut.truncated ? `${text.slice(0, cut.index)}${cut.ellipsed ? '…' : ''}` : text;
  return kept + ' '.repeat(Math.max(0, width - widthOf(kept)));
}

/** Columns that the text takes on a terminal; East Asian characters take two. */
function widthOf(text: string): number {
  return measure(text).width;
}
