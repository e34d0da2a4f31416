import { Refusal } from '../errors.ts';
import { type Address, fileOf } from './connect.ts';

// `database move` marks both of its databases. A mark is a row of the table `migrations`: an older
// idctl does not know that name, so it refuses the database too.

const moved = 'moved to ';
const unfinished = 'unfinished move of ';
const from = ' from ';
/** The length of the column. */
const longest = 255;

/** The address without its password. */
export function shownAddress({ url }: Pick<Address, 'url'>): string {
  if (url.startsWith('sqlite:')) return `sqlite:${fileOf(url)}`;
  const shown = new URL(url);
  shown.password = '';
  shown.searchParams.delete('password');
  return shown.href;
}

/** The mark of a database whose data is now at this address. */
export function movedMark(to: Address): string {
  return `${moved}${shownAddress(to)}`.slice(0, longest);
}

/** The mark of a database that an instance is moved to; `instance` is its oldest key. */
export function unfinishedMark(instance: string, source: Address): string {
  return `${unfinished}${instance}${from}${shownAddress(source)}`.slice(0, longest);
}

/** Whether this row of `migrations` is a mark. */
export function isMark(name: string): boolean {
  return name.startsWith(moved) || name.startsWith(unfinished);
}

/** Refuses a database that was moved, or whose move is unfinished. */
export function requireUnmarked(names: readonly string[]): void {
  const mark = names.find(isMark);
  if (mark === undefined) return;
  if (mark.startsWith(moved)) throw movedAway(mark.slice(moved.length));
  const source = mark.slice(mark.indexOf(from, unfinished.length) + from.length);
  throw new Refusal('not_ready', `A move from ${source} into this database is unfinished.`, {
    hint: 'Set database.url to that address, then run the same idctl database move again.',
  });
}

function movedAway(to: string): Refusal {
  return new Refusal('database_moved', `This database was moved to ${to}.`, {
    hint: `Set database.url to that address${to.startsWith('sqlite:') ? '' : ', with its password'}.`,
    extra: { movedTo: to },
  });
}

/** Whether the refusal says that the database was moved to this address. */
export function saysMovedTo(error: unknown, to: Address): boolean {
  return (
    error instanceof Refusal &&
    error.code === 'database_moved' &&
    `${moved}${error.extra['movedTo']}` === movedMark(to)
  );
}
