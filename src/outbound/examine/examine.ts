import { type Finding, right, takingSteps, wrong } from '../../finding.ts';
import type { Guard } from '../guard.ts';
import type { GuardedClient } from '../http.ts';
import type { Confidential } from '../oidc.ts';
import type { Outbound } from '../outbound.ts';
import { examineClient } from './client.ts';
import { examineDiscovery, examineEndpoints, examineIssuer } from './document.ts';
import { type StepName, stepNames } from './finding.ts';
import { examineKeys } from './keys.ts';
import { examineName, examineTls } from './place.ts';
import { examineRedirect } from './redirect.ts';

/** Examines a provider in steps, within `total` ms. Omits steps that need a failed one. */
export function createExaminer(
  client: GuardedClient,
  guard: Guard,
  total: number,
): Outbound['examineProvider'] {
  return async (subject, now, showIssuer = false) => {
    // This is slightly less than the limit, so that idctl's own answer is within the limit too.
    const deadline = AbortSignal.timeout(total * 0.9);
    const overdue = lateness(deadline);
    const { steps, take } = takingSteps(async (look) =>
      deadline.aborted ? late : Promise.race([look(), overdue]),
    );
    const step: Step = (name, look) => take(name, expectations[name](subject), look);
    await walk(step, { ...client, guard, deadline, subject, now, showIssuer });
    return stepNames.flatMap((name) => steps.find((taken) => taken.name === name) ?? []);
  };
}

/** Runs a step unless the time is over, and stores its finding. */
type Step = <V>(
  name: StepName,
  look: () => Promise<Finding<V>> | Finding<V>,
) => Promise<Finding<V>>;

interface Way extends GuardedClient {
  guard: Guard;
  deadline: AbortSignal;
  subject: Confidential;
  now: Date;
  showIssuer: boolean;
}

async function walk(step: Step, way: Way): Promise<void> {
  const { fetch, handshake, guard, deadline, subject, now } = way;
  const began = performance.now();
  const issuer = new URL(subject.issuer);
  if (!(await step('name', () => examineName(guard, issuer))).ok) return;
  if (!(await step('TLS', () => examineTls(guard, handshake, issuer, now))).ok) return;
  const discovered = await step('discovery', () =>
    examineDiscovery(fetch, subject.issuer, deadline),
  );
  if (!discovered.ok) return;
  const ours = now.getTime() + performance.now() - began;
  await step('clock', () => examineClock(discovered.value.date, ours));
  const judged = await step('issuer', () =>
    examineIssuer(subject.issuer, discovered.value, way.showIssuer),
  );
  if (!judged.ok) return;
  const endpoints = await step('endpoints', () => examineEndpoints(guard, discovered.value));
  if (!endpoints.ok) return;
  const metadata = endpoints.value;
  const askClient = async () => {
    const asked = await step('client authentication', () =>
      examineClient(fetch, metadata, subject, deadline),
    );
    if (asked.ok)
      await step('redirect URI', () => examineRedirect(fetch, metadata, subject, deadline));
  };
  // These run in parallel, so that a slow key set does not use up the time of the other steps.
  await Promise.all([step('keys', () => examineKeys(fetch, metadata, deadline)), askClient()]);
}

const late = wrong(
  'no answer in time',
  'Check that the provider is running, and that this machine can reach it.',
);

function lateness(deadline: AbortSignal): Promise<typeof late> {
  return new Promise((resolve) => {
    deadline.addEventListener('abort', () => resolve(late), { once: true });
  });
}

const expectations: Record<StepName, (subject: Confidential) => string> = {
  name: () => 'addresses that idctl may connect to',
  TLS: () => 'a trusted certificate for this host, valid now',
  discovery: () => 'a JSON document at /.well-known/openid-configuration',
  issuer: ({ issuer }) => `exactly ${issuer}`,
  endpoints: () => 'authorization, token and userinfo, encrypted and allowed',
  keys: () => 'a key for RS256, PS256, ES256 or EdDSA',
  'client authentication': () => 'the client ID and secret are accepted, a made-up code is not',
  'redirect URI': ({ redirectUri }) => `the provider accepts ${redirectUri}`,
  clock: () => "at most 60 seconds off this machine's clock",
};

/** Whether both clocks agree. `theirs` is null if the provider does not send a time. */
function examineClock(theirs: number | null, ours: number): Finding {
  if (theirs === null) return right('the provider does not send a time');
  const seconds = Math.round((theirs - ours) / 1000);
  const apart = `${Math.abs(seconds)} seconds ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
  if (Math.abs(seconds) <= 60) return right(seconds === 0 ? 'the same' : apart);
  return wrong(apart, 'Set the clocks of this machine and the provider with NTP.');
}
