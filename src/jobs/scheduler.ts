import { type App, type Context, openContext, type Turn } from '../context.ts';
import { Refusal } from '../errors.ts';
import { Failures } from '../host/queue.ts';
import { stopsJobs } from '../log/outage.ts';
import { followMasterKey } from '../services/foundation/keys/open.ts';
import { deliverMail } from '../services/instance/mail/deliver.ts';
import { sweepExpired } from '../services/instance/upkeep.ts';
import { writeTokenUses } from '../services/people/tokens/token.ts';
import { planWaiting } from '../services/provisioning/mappings/replan.ts';
import { writeRequests } from '../services/provisioning/scim/log.ts';
import { writeScimTokenUses } from '../services/provisioning/scim/token.ts';
import { tellClients } from '../services/signin/provider/sign-outs.ts';
import { refreshAll } from '../services/tenancy/sso/refresh.ts';
import { deliverWebhooks } from '../services/tenancy/webhooks/delivery/deliver.ts';

interface Job {
  name: string;
  everySeconds: number;
  /** Whether the job runs once more when the scheduler stops. */
  lastly?: true;
  run: (ctx: Context, turn: Turn) => Promise<void>;
}

const jobs: Job[] = [
  { name: 'sweep', everySeconds: 600, run: sweepExpired },
  { name: 'SAML metadata', everySeconds: 3600, run: refreshAll },
  { name: 'mail', everySeconds: 1, run: deliverMail },
  { name: 'token uses', everySeconds: 10, lastly: true, run: writeTokenUses },
  { name: 'SCIM token uses', everySeconds: 10, lastly: true, run: writeScimTokenUses },
  { name: 'SCIM requests', everySeconds: 0.25, lastly: true, run: writeRequests },
  // A run of these three that has found its work does not delay the next run.
  { name: 'SCIM groups', everySeconds: 0.5, run: planWaiting },
  { name: 'webhooks', everySeconds: 1, run: deliverWebhooks },
  { name: 'client sign-outs', everySeconds: 1, run: tellClients },
  { name: 'master key', everySeconds: 5, run: followMasterKey },
  // Drops connections to a database server that has become read-only, even if nothing writes.
  { name: 'database', everySeconds: 5, run: (ctx) => ctx.ready().then(() => {}) },
];

/**
 * Starts the scheduler. A job does not start again before its run has ended or called `found`.
 * The returned function stops the scheduler, waits for running jobs, and runs the jobs marked
 * `lastly` once more.
 */
export function startJobs(app: App): () => Promise<void> {
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const timers = jobs.map((job) => {
    let current: object | null = null;
    const begin = () => {
      if (current !== null) return;
      const own = {};
      current = own;
      const free = () => {
        if (current === own) current = null;
      };
      const run = runJob(app, job, { stop: stop.signal, found: free }).finally(() => {
        free();
        running.delete(run);
      });
      running.add(run);
    };
    return setInterval(begin, job.everySeconds * 1000).unref();
  });
  return async () => {
    for (const timer of timers) clearInterval(timer);
    stop.abort();
    await Promise.all(running);
    for (const job of jobs) if (job.lastly) await runJob(app, job, { stop: stop.signal });
  };
}

async function runJob(app: App, job: Job, turn: Omit<Turn, 'anew'>): Promise<void> {
  const anew = () => openContext(app, { kind: 'system', name: job.name });
  try {
    await job.run(anew(), { ...turn, anew });
  } catch (error) {
    for (const each of error instanceof Failures ? error.errors : [error]) report(app, job, each);
  }
}

function report(app: App, { name }: Job, error: unknown): void {
  const refusal = error instanceof Refusal ? error : app.refusalOf(error);
  if (refusal !== null && stopsJobs(refusal)) app.tellOutage(refusal);
  else app.log.error({ job: name, err: error }, 'job failed');
}
