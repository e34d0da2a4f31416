import { hash } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { type Address, fileOf } from './connect.ts';

// `database move` marks both databases. A mark is a row in the table `migrations`. An older idctl
// takes it for an unknown migration, and refuses the database too. Both marks have the same id.

/** The length of the column `name`. */
const longest = 255;
const movedForm = /^moved (\S+) to (.*)$/s;
const unfinishedForm = /^unfinished move (\S+) of (\S+) from (.*)$/s;

/** The mark of a database that was moved to another address. */
export interface MovedMark {
  /** The id of the move. */
  move: string;
  /** The new address; a long one is truncated. */
  to: string;
}

/** The mark of an unfinished copy. */
export interface UnfinishedMark {
  /** The id of the move. */
  move: string;
  /** The name of the copied database, from `sourceOf`. */
  source: string;
  /** The address of the copied database; a long one is truncated. */
  from: string;
}

/** The address without the password. */
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

/** Names a database to copy, by the instance's oldest signing key and `shownAddress`. */
export function sourceOf(instance: string, address: Address): string {
  return hash('sha256', `${instance} ${shownAddress(address)}`).slice(0, 32);
}

/** The mark of a moved database, among the rows of `migrations`; null if there is none. */
export function movedMarkIn(names: readonly string[]): MovedMark | null {
  const [, move = '', to = ''] = matchIn(names, movedForm) ?? [];
  return move === '' ? null : { move, to };
}

/** The mark of an unfinished copy, among the rows of `migrations`; null if there is none. */
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

/** Refuses a database that was moved, or that is an unfinished copy. */
export function requireUnmarked(names: readonly string[]): void {
  const moved = movedMarkIn(names);
  if (moved !== null) throw movedAway(moved.to);
  const unfinished = unfinishedMarkIn(names);
  if (unfinished === null) return;
  throw new Refusal(
    'not_ready',
    `A move from ${unfinished.from} into this database is unfinished.`,
    {
      hint: {
        technical: `Set database.url to ${unfinished.from} and run the same move again.`,
      },
    },
  );
}

function movedAway(to: string): Refusal {
  const secret = to.startsWith('sqlite:') ? '' : ', with its password';
  return new Refusal('database_moved', `This database was moved to ${to}.`, {
    hint: { technical: `Set database.url to that address${secret}.` },
    extra: { movedTo: to },
  });
}
