import { setTimeout as pause } from 'node:timers/promises';
import { eventPage } from '../../src/services/foundation/events/view.ts';
import type { Client } from './http.ts';

/** A page of a list of events. */
interface Page<T> {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** Reads pages of two events at this path, which has a query. */
export function pagesOf(client: Client, path: string) {
  return async (cursor?: string) => {
    const from = cursor === undefined ? '' : `&cursor=${cursor}`;
    return eventPage.parse((await client.get(`${path}&limit=2${from}`)).body);
  };
}

/**
 * All events after the cursor, each once, the cursor after them, and `hasMore` of each page. While a transaction of another
 * connection is open, even a short one, cursors stay a second before it, and events repeat: this
 * reads until there is none.
 */
export async function readAll<T extends { id: string }>(
  read: (cursor?: string) => Promise<Page<T>>,
  after?: string | null,
) {
  const events = new Map<string, T>();
  const more: boolean[] = [];
  let count = 0;
  let page = await read(after ?? undefined);
  while (page.items.length > 0) {
    for (const event of page.items) events.set(event.id, event);
    more.push(page.hasMore);
    count += page.items.length;
    if (!page.hasMore) await pause(2);
    page = await read(page.nextCursor ?? undefined);
  }
  const cursor = page.nextCursor ?? undefined;
  return { events: [...events.values()], repeats: count - events.size, cursor, more };
}
