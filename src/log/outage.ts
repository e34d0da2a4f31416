import type { Logger } from 'pino';
import { type Refusal, type RefusalCode, withReason } from '../errors.ts';

const outages: RefusalCode[] = [
  'database_unreachable',
  'database_full',
  'schema_newer',
  'database_moved',
];
/** Codes that a single request can get too, and that another outage can cause. */
const weaker: RefusalCode[] = ['database_busy', 'overloaded'];
const lookEvery = 1_000;
/** Longer than a statement waits, so that a lock on one table is one outage. */
const quietFor = 15_000;

/** Whether the refusal means that no request can use the database, or none can write to it. */
export function isOutage({ code }: Refusal): boolean {
  return outages.includes(code);
}

/** Whether the refusal means that jobs have to wait for the database. They try again by themselves. */
export function stopsJobs(refusal: Refusal): boolean {
  return isOutage(refusal) || weaker.includes(refusal.code);
}

/** Logs outages: a line at the start, at each change of the code and at the end. */
export interface OutageLog {
  tell(refusal: Refusal): void;
  /** Resolves if the database was moved away. That outage does not end. */
  moved: Promise<Refusal>;
  /** Stops looking for the end of an outage. */
  end(): void;
}

/** Creates the log of outages. `look` checks whether the database is usable and writable again. */
export function createOutageLog(log: Logger, look: () => Promise<boolean>): OutageLog {
  let current: RefusalCode | undefined;
  let looking = false;
  let toldAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const { promise: moved, resolve: tellMoved } = Promise.withResolvers<Refusal>();
  const end = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const lookOnce = async () => {
    const isQuiet = performance.now() - toldAt >= quietFor;
    if (looking || (current !== undefined && weaker.includes(current) && !isQuiet)) return;
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
      toldAt = performance.now();
      if (refusal.code === current) return;
      // Writes wait during other outages too, which say more.
      if (weaker.includes(refusal.code) && current !== undefined) return;
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
