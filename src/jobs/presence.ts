import { randomUUIDv7 } from 'node:crypto';
import { type App, openContext } from '../context.ts';
import {
  announceDaemon,
  announceSeconds,
  type ConfigurationFile,
  dismissDaemon,
  proxySeen,
} from '../services/instance/daemons.ts';

/** Lets commands know that a daemon is running. */
export interface Presence {
  /** Reports that the daemon has applied the whole of this configuration. */
  tell(configuration: ConfigurationFile): Promise<void>;
  end(): Promise<void>;
}

/**
 * Regularly reports this daemon and its configuration, until `end`. If the database cannot be
 * reached, the next report retries.
 */
export async function startPresence(
  app: App,
  listen: string,
  given: ConfigurationFile,
): Promise<Presence> {
  const id = randomUUIDv7();
  let configuration = given;
  let proxy: string | null = null;
  const announce = async () => {
    const ctx = openContext(app, { kind: 'system', name: 'daemon' });
    await announceDaemon(ctx, { id, listen, configuration, proxy }).catch((err) => {
      app.log.debug({ err }, 'could not report this daemon to the commands');
    });
  };
  await announce();
  void proxySeen(app).promise.then((address) => {
    proxy = address;
    return announce();
  });
  const timer = setInterval(announce, announceSeconds * 1000).unref();
  return {
    tell: async (now) => {
      configuration = now;
      await announce();
    },
    end: async () => {
      clearInterval(timer);
      await dismissDaemon({ id }).catch((err) =>
        app.log.debug({ err }, 'could not report the end of this daemon to the commands'),
      );
    },
  };
}
