import { AsyncLocalStorage } from 'node:async_hooks';

/** True around a transaction whose commit does not wait for the disk. */
export const withoutSync = new AsyncLocalStorage<boolean>();
