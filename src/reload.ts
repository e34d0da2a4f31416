import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config/schema.ts';
import { isReloadable, settingIn, settings } from './config/setting-list.ts';
import type { App } from './context.ts';
import { assertNoTransaction } from './database/transaction.ts';
import { createOutbound } from './outbound/create.ts';

/** Requests to other servers end within ten seconds. Then the former HTTP clients can be closed. */
const outboundGraceMs = 15_000;

/** The keys of changed settings: those that the reload applied, and those that need a restart. */
export interface Reloaded {
  taken: string[];
  left: string[];
}

/**
 * Applies a changed configuration, as far as a running process can. If it refuses with
 * `config_invalid`, nothing changes.
 */
export function reload(app: App, next: Config): Reloaded {
  const changed = settings()
    .map(({ key }) => key)
    .filter((key) => !isDeepStrictEqual(settingIn(app.config, key), settingIn(next, key)));
  const taken = changed.filter(isReloadable);
  const left = changed.filter((key) => !isReloadable(key));
  if (taken.length === 0) return { taken, left };
  const { outbound, mail, social, limits } = next;
  const merged: Config = { ...app.config, outbound, mail, social, limits };
  const network = createOutbound(merged, assertNoTransaction);
  const former = app.outbound;
  setTimeout(() => void former.close(), outboundGraceMs).unref();
  app.outbound = network;
  // Changed in place, because other code holds a reference to this object.
  Object.assign(app.config, { outbound, mail, social, limits });
  app.config.log.level = next.log.level;
  app.log.level = next.log.level;
  return { taken, left };
}
