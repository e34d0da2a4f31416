import type { Logger } from 'pino';
import { type Refusal, type RefusalCode, withReason } from './errors.ts';

const outages: RefusalCode[] = [
  'database_unreachable',
  'database_full',
  'schema_newer',
  'database_moved',
];
const lookEvery = 1_000;

/** Whether the refusal means that no request can use the database, or none can write to it. */
export function isOutage({ code }: Refusal): boolean {
  return outages.includes(code);
}

/** Logs outages: a line at the start, at each change of the code and at the end. */
export interface OutageLog {
  tell(refusal: Refusal): void;
  /** Resolves if the database was moved away. That outage does not end. */
  moved: Promise<Refusal>;
  /** Stops looking for the end of an outage. */
  end(): void;
}

/** Creates the log of outages. `look` tells whether the database is usable and writable again. */
export function createOutageLog(log: Logger, look: () => Promise<boolean>): OutageLog {
  let current: RefusalCode | undefined;
  let looking = false;
  let timer: NodeJS.Timeout | undefined;
  const { promise: moved, resolve: tellMoved } = Promise.withResolvers<Refusal>();
  const end = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const lookOnce = async () => {
    if (looking) return;
    looking = true;
    const usable = await look().catch(() => false);
    looking = false;
    if (!usable || timer === undefined) return;
    end();
    current = undefined;
    log.info('the database can be used again');
  };
  return {
    tell(refusal) {
      if (refusal.code === current) return;
      // Writes wait during other outages too, which say more.
      if (refusal.code === 'database_busy' && current !== undefined) return;
      if (refusal.code === 'database_moved') tellMoved(refusal);
      current = refusal.code;
      log.error(
        { code: refusal.code, reason: withReason(refusal).message, err: refusal.cause },
        'the database cannot be used',
      );
      timer ??= setInterval(() => void lookOnce(), lookEvery).unref();
    },
    moved,
    end,
  };
}
