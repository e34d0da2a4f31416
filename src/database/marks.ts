import { hash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type Address, fileOf } from './connect.ts';

// `database move` marks both of its databases. A mark is a row of the table `migrations`: an older
// idctl does not know that name, so it refuses the database too. Both marks have the move's id.

/** The length of the column. */
const longest = 255;
const movedForm = /^moved (\S+) to (.*)$/s;
const unfinishedForm = /^unfinished move (\S+) of (\S+) from (.*)$/s;

/** The mark of a database that was moved away. */
export interface MovedMark {
  /** The id of the move. */
  move: string;
  /** The new address, maybe cut. */
  to: string;
}

/** The mark of a half copy. */
export interface UnfinishedMark {
  /** The id of the move. */
  move: string;
  /** Names the copied database, as `sourceOf` does. */
  source: string;
  /** Its address, maybe cut. */
  from: string;
}

/** The address without its password. */
export function shownAddress({ url }: Pick<Address, 'url'>): string {
  if (url.startsWith('sqlite:')) return `sqlite:${fileOf(url)}`;
  const shown = new URL(url);
  shown.password = '';
  shown.searchParams.delete('password');
  return shown.href;
}

/** The row of `migrations` for this mark. */
export function movedRow({ move, to }: MovedMark): string {
  return `moved ${move} to ${to}`.slice(0, longest);
}

/** The row of `migrations` for this mark. */
export function unfinishedRow({ move, source, from }: UnfinishedMark): string {
  return `unfinished move ${move} of ${source} from ${from}`.slice(0, longest);
}

/** The name of a database to copy, from its whole address and the instance's oldest key. */
export function sourceOf(instance: string, address: Address): string {
  return hash('sha256', `${instance} ${shownAddress(address)}`).slice(0, 32);
}

/** The mark of a moved database; null if no row of `migrations` is one. */
export function movedMarkIn(names: readonly string[]): MovedMark | null {
  const [, move = '', to = ''] = matchIn(names, movedForm) ?? [];
  return move === '' ? null : { move, to };
}

/** The mark of a half copy; null if no row of `migrations` is one. */
export function unfinishedMarkIn(names: readonly string[]): UnfinishedMark | null {
  const [, move = '', source = '', from = ''] = matchIn(names, unfinishedForm) ?? [];
  return move === '' ? null : { move, source, from };
}

function matchIn(names: readonly string[], form: RegExp): RegExpExecArray | null {
  for (const name of names) {
    const match = form.exec(name);
    if (match !== null) return match;
  }
  return null;
}

/** Whether this row of `migrations` is a mark. */
export function isMark(name: string): boolean {
  return movedForm.test(name) || unfinishedForm.test(name);
}

/** Refuses a database that was moved, or whose move is unfinished. */
export function requireUnmarked(names: readonly string[]): void {
  const moved = movedMarkIn(names);
  if (moved !== null) throw movedAway(moved.to);
  const unfinished = unfinishedMarkIn(names);
  if (unfinished === null) return;
  throw new Refusal(
    'not_ready',
    `A move from ${unfinished.from} into this database is unfinished.`,
    { hint: 'Set database.url to that address, then run the same idctl database move again.' },
  );
}

function movedAway(to: string): Refusal {
  const secret = to.startsWith('sqlite:') ? '' : ', with its password';
  return new Refusal('database_moved', `This database was moved to ${to}.`, {
    hint: `Set database.url to that address${secret}.`,
    extra: { movedTo: to },
  });
}
