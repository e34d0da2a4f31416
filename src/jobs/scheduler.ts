import { type App, type Context, openContext, type Turn } from '../context.ts';
import { Refusal } from '../errors.ts';
import { isOutage } from '../outage.ts';
import { followMasterKey } from '../services/foundation/keys/open.ts';
import { deliverMail } from '../services/instance/mail/deliver.ts';
import { sweepExpired } from '../services/instance/upkeep.ts';
import { writeTokenUses } from '../services/people/tokens/token.ts';
import { planWaiting } from '../services/provisioning/mappings/replan.ts';
import { writeRequests } from '../services/provisioning/scim/log.ts';
import { writeScimTokenUses } from '../services/provisioning/scim/token.ts';
import { tellClients } from '../services/signin/provider/sign-outs.ts';
import { deliverWebhooks } from '../services/tenancy/webhooks/delivery/deliver.ts';

interface Job {
  name: string;
  everySeconds: number;
  /** Whether the job runs once more when the scheduler stops. */
  lastly?: true;
  /** Whether at most one run of the job is active in this process. */
  alone?: true;
  run: (ctx: Context, turn: Turn) => Promise<void>;
}

const jobs: Job[] = [
  { name: 'sweep', everySeconds: 600, alone: true, run: sweepExpired },
  { name: 'mail', everySeconds: 1, alone: true, run: deliverMail },
  { name: 'token uses', everySeconds: 10, lastly: true, run: writeTokenUses },
  { name: 'SCIM token uses', everySeconds: 10, lastly: true, run: writeScimTokenUses },
  // Without `alone`, four more runs would start each second while one waits for a busy database.
  { name: 'SCIM requests', everySeconds: 0.25, alone: true, lastly: true, run: writeRequests },
  { name: 'SCIM groups', everySeconds: 0.5, run: planWaiting },
  { name: 'webhooks', everySeconds: 1, run: deliverWebhooks },
  { name: 'client sign-outs', everySeconds: 1, run: tellClients },
  { name: 'master key', everySeconds: 5, run: followMasterKey },
  // Drops connections to a database server that has become read-only, even if nothing writes.
  { name: 'database', everySeconds: 5, run: (ctx) => ctx.ready().then(() => {}) },
];

/**
 * Starts the scheduler. The returned function stops it, waits for running jobs, and runs the jobs
 * marked `lastly` once more.
 */
export function startJobs(app: App): () => Promise<void> {
  const running = new Map<Promise<void>, Job>();
  const stop = new AbortController();
  const timers = jobs.map((job) =>
    setInterval(() => {
      if (job.alone && [...running.values()].includes(job)) return;
      const turn = runJob(app, job, stop.signal).finally(() => running.delete(turn));
      running.set(turn, job);
    }, job.everySeconds * 1000).unref(),
  );
  return async () => {
    for (const timer of timers) clearInterval(timer);
    stop.abort();
    await Promise.all(running.keys());
    for (const job of jobs) if (job.lastly) await runJob(app, job, stop.signal);
  };
}

async function runJob(app: App, job: Job, stop: AbortSignal): Promise<void> {
  const anew = () => openContext(app, { kind: 'system', name: job.name });
  try {
    await job.run(anew(), { stop, anew });
  } catch (error) {
    const refusal = error instanceof Refusal ? error : app.refusalOf(error);
    if (refusal !== null && isOutage(refusal)) app.tellOutage(refusal);
    else app.log.error({ job: job.name, err: error }, 'job failed');
  }
}
