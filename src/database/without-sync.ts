import { AsyncLocalStorage } from 'node:async_hooks';

/** Set around a transaction whose commit need not reach the disk before it counts. */
export const withoutSync = new AsyncLocalStorage<boolean>();
