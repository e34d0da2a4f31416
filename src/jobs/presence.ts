import { randomUUIDv7 } from 'node:crypto';
import { type App, openContext } from '../context.ts';
import {
  announceDaemon,
  announceSeconds,
  type ConfigurationFile,
  dismissDaemon,
} from '../services/instance/daemons.ts';

/** A running daemon's reports to the commands. */
export interface Presence {
  /** Reports that the daemon has applied this whole configuration. */
  tell(configuration: ConfigurationFile): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reports which configuration this daemon runs with, until ended. If the database is away, it
 * retries.
 */
export async function startPresence(
  app: App,
  listen: string,
  given: ConfigurationFile,
): Promise<Presence> {
  const id = randomUUIDv7();
  let configuration = given;
  const announce = async () => {
    const ctx = openContext(app, { kind: 'system', name: 'daemon' });
    await announceDaemon(ctx, { id, listen, configuration }).catch((err) => {
      app.log.debug({ err }, 'this daemon could not be reported to the commands');
    });
  };
  await announce();
  const timer = setInterval(announce, announceSeconds * 1000).unref();
  return {
    tell: async (now) => {
      configuration = now;
      await announce();
    },
    end: async () => {
      clearInterval(timer);
      await dismissDaemon({ id }).catch((err) =>
        app.log.debug({ err }, 'the end of this daemon could not be reported to the commands'),
      );
    },
  };
}
