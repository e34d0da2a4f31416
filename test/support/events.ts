import { setTimeout as pause } from 'node:timers/promises';

/** A page of a list of events. */
interface Page<T> {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
}

/**
 * All events after the cursor, each once, and the cursor after them. While a transaction of another
 * connection is open, even a short one, cursors stay a second before it, and events repeat: this
 * reads until there is none.
 */
export async function readAll<T extends { id: string }>(
  read: (cursor?: string) => Promise<Page<T>>,
  after?: string | null,
) {
  const events = new Map<string, T>();
  let count = 0;
  let page = await read(after ?? undefined);
  while (page.items.length > 0) {
    for (const event of page.items) events.set(event.id, event);
    count += page.items.length;
    if (!page.hasMore) await pause(2);
    page = await read(page.nextCursor ?? undefined);
  }
  const cursor = page.nextCursor ?? undefined;
  return { events: [...events.values()], repeats: count - events.size, cursor };
}
