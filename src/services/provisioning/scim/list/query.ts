import type { AtUsers } from '../users/present.ts';
import { maxInPage } from '../view.ts';

/** The query of a list (RFC 7644 §3.4.2), as the client sent it. */
export interface ListQuery extends AtUsers {
  filter?: string | undefined;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
  startIndex?: number | undefined;
  count?: number | undefined;
}

const usual = 100;

/** The part of the list that a query requests, and the sort order. */
export function readWindow(input: ListQuery) {
  const startIndex = Math.max(1, input.startIndex ?? 1);
  return {
    startIndex,
    from: startIndex - 1,
    count: Math.min(maxInPage, Math.max(0, input.count ?? usual)),
    sortBy: input.sortBy,
    descending: input.sortOrder?.toLowerCase() === 'descending',
  };
}
