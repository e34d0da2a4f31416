import { isDeepStrictEqual } from 'node:util';
import { isReloadable } from './config/reloadable.ts';
import type { Config } from './config/schema.ts';
import { settingIn, settings } from './config/settings.ts';
import type { App } from './context.ts';
import { assertNoTransaction } from './database/transaction.ts';
import { createOutbound } from './outbound/create.ts';

/** Requests to other servers end within ten seconds; then what they were made with can go. */
const outboundGraceMs = 15_000;

/** What a reload took over, and what only a restart does: the keys of the settings that have changed. */
export interface Reloaded {
  taken: string[];
  left: string[];
}

/** Takes over what a running process can of a changed configuration; refuses `config_invalid` and changes nothing then. */
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
  // Others hold on to the object itself.
  Object.assign(app.config, { outbound, mail, social, limits });
  app.config.log.level = next.log.level;
  app.log.level = next.log.level;
  return { taken, left };
}
