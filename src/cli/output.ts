import { Chalk } from 'chalk';
import measure from 'fast-string-truncated-width';
import { escaped } from '../text/escape.ts';
import { hintsAsText } from './next.ts';

type Cell = string | number | boolean | readonly string[] | null | undefined;

/**
 * The fields of a view that a person sees: titles, each with its value. In a table, `whole` values
 * and times are never cut. A `broken` column is the last, and wraps below itself. If a table is too
 * wide, it shows the values of `below` columns below their row.
 */
export type Fields<View> = readonly (readonly [
  title: string,
  value: (view: View) => Cell,
  manner?: 'whole' | 'broken' | 'below',
])[];

const gap = '  ';
/** The text for an empty value. */
const nothing = '-';
const time = /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/;
/** The smallest width of a narrowed column, for cut and for wrapped values. */
const narrowest = { cut: 8, broken: 16 };

interface Column {
  cells: string[];
  width: number;
  /** The width at which narrowing stops. */
  least: number;
}

/** The target of results, and its terminal features. */
export interface Screen {
  write(text: string): void;
  /** The width of the terminal; infinite in a pipe. */
  columns: number;
  colour: boolean;
}

/** The screen that the process writes its results to. */
export function standardOutput(stream: NodeJS.WriteStream = process.stdout): Screen {
  const terminal = stream.isTTY === true;
  return {
    write: (text) => stream.write(text),
    columns: widthOfScreen(stream),
    // chalk itself ignores NO_COLOR.
    colour: terminal && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  };
}

/** The width of the terminal, or infinite in a pipe. A terminal that reports 0 has an unknown width. */
export function widthOfScreen(stream: NodeJS.WriteStream): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Prints a view as JSON: one line in a pipe, indented on a terminal. */
export function printJson(view: unknown, screen: Screen): void {
  const text = JSON.stringify(view, hintsAsText, Number.isFinite(screen.columns) ? 2 : 0);
  // JSON escapes line breaks in strings, so every line break here is indentation.
  screen.write(`${text.split('\n').map(escaped).join('\n')}\n`);
}

/**
 * Prints views as a table, and cuts values with `…` to fit a terminal. If the table still does not
 * fit, prints blocks instead.
 */
export function printTable<View>(
  views: readonly View[],
  given: Fields<View>,
  screen: Screen,
): void {
  const fields = [...given];
  const columns = fields.map((field) => columnOf(field, views));
  const below = takeBelow(columns, fields, screen.columns);
  if (!narrow(columns, screen.columns)) {
    printBlocks(views, given, screen);
    return;
  }
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 });
  const broken = fields.at(-1)?.[2] === 'broken';
  for (let row = 0; row <= views.length; row += 1) {
    const cells = columns.map(({ cells, width }) => pad(cells[row] ?? '', width));
    const line = cells.join(gap).trimEnd();
    if (row === 0) screen.write(`${chalk.bold(line)}\n`);
    else if (!broken) screen.write(`${line}\n`);
    else
      writeBroken([...cells.slice(0, -1), ''].join(gap), columns.at(-1)?.cells[row] ?? '', screen);
    const view = views[row - 1];
    if (view !== undefined) writeBelow(view, below, screen);
  }
}

/** Takes `below` columns out, the last one first, until nothing else has to be cut. */
function takeBelow<View>(
  columns: Column[],
  fields: Fields<View>[number][],
  available: number,
): Fields<View> {
  const below: Fields<View>[number][] = [];
  while (widthWith(columns) > available) {
    const at = fields.findLastIndex(([, , manner]) => manner === 'below');
    if (at === -1) break;
    columns.splice(at, 1);
    below.unshift(...fields.splice(at, 1));
  }
  return below;
}

function writeBelow<View>(view: View, below: Fields<View>, screen: Screen): void {
  const values = below.map(([title, value]) => [title, shown(value(view))] as const);
  const said = values.filter(([, text]) => text !== nothing);
  if (said.length === 0) return;
  writeBroken(gap, said.map(([title, text]) => `${title}: ${text}`).join(gap), screen);
}

function widthWith(columns: Column[]): number {
  return columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length);
}

function columnOf<View>(
  [title, value, manner]: Fields<View>[number],
  views: readonly View[],
): Column {
  const cells = [title.toUpperCase(), ...views.map((view) => shown(value(view)))];
  const width = cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0);
  const whole = manner === 'whole' || cells.some((cell) => time.test(cell));
  return {
    cells,
    width,
    least: whole ? width : Math.min(width, narrowest[manner === 'broken' ? 'broken' : 'cut']),
  };
}

/** Writes `text` after `lead`, wrapped between words at the width of the terminal. */
export function writeBroken(lead: string, text: string, { columns, write }: Screen): void {
  const [first = '', ...rest] = escaped(text).split(' ');
  const indent = ' '.repeat(widthOf(lead));
  let written = `${lead}${first}`;
  for (const word of rest) {
    const longer = `${written} ${word}`;
    if (widthOf(longer) <= columns) {
      written = longer;
      continue;
    }
    write(`${written.trimEnd()}\n`);
    written = `${indent}${word}`;
  }
  write(`${written.trimEnd()}\n`);
}

function printBlocks<View>(views: readonly View[], fields: Fields<View>, screen: Screen): void {
  for (const [at, view] of views.entries()) {
    if (at > 0) screen.write('\n');
    printBlock(view, fields, screen);
  }
}

/** Prints one view on a line, its values side by side. */
export function printLine<View>(view: View, fields: Fields<View>, screen: Screen): void {
  const line = fields.map(([, value]) => shown(value(view))).join(gap);
  screen.write(`${pad(line, Math.min(screen.columns, widthOf(line)))}\n`);
}

/** Prints one view, with one title and value per line. */
export function printBlock<View>(view: View, fields: Fields<View>, screen: Screen): void {
  const chalk = new Chalk({ level: screen.colour ? 1 : 0 });
  const widest = Math.max(...fields.map(([title]) => title.length));
  for (const [title, value] of fields) {
    screen.write(`${chalk.bold(`${title}:`.padEnd(widest + 1))}  ${shown(value(view))}\n`);
  }
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return nothing;
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell === 'object') return cell.length === 0 ? nothing : escaped(cell.join(', '));
  // A person does not need milliseconds.
  return escaped(String(cell).replace(/(T\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1Z'));
}

/** Takes width from the widest columns until the table fits; false if it cannot fit. */
function narrow(columns: Column[], available: number): boolean {
  while (widthWith(columns) > available) {
    const flexible = columns.filter(({ width, least }) => width > least);
    const [widest] = flexible.toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return false;
    widest.width -= 1;
  }
  return true;
}

function pad(text: string, width: number): string {
  const kept = cutTo(text, width);
  return kept + ' '.repeat(Math.max(0, width - widthOf(kept)));
}

function cutTo(text: string, width: number): string {
  // Between two wide characters, the library cuts one column too late.
  for (let limit = width; limit > 0; limit -= 1) {
    const cut = measure(text, { limit, ellipsis: '…' });
    const kept = cut.truncated ? `${text.slice(0, cut.index)}${cut.ellipsed ? '…' : ''}` : text;
    if (widthOf(kept) <= width) return kept;
  }
  return '';
}

/** Columns that the text takes on a terminal; East Asian characters take two. */
function widthOf(text: string): number {
  return measure(text).width;
}

/** Masks a secret for display: a URL loses only its passwords, any other text is hidden. */
export function masked(secret: string): string {
  if (secret.startsWith('sqlite:')) return secret;
  if (!URL.canParse(secret)) return '***';
  return secret
    .replace(/^(\w+:\/\/[^:@/]*):[^/?#]*@/, '$1:***@')
    .replace(/([?&]password=)[^&#]*/gi, '$1***');
}

/** Whether the text is a URL with a password. */
export function holdsPassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.password !== '' || url.searchParams.has('password');
}
