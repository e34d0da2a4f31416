import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../errors.ts';
import { createThread } from '../../host/thread.ts';
import { createTurns } from '../../host/turns.ts';
import { samlRefused } from './refusal.ts';
import type { Expected, SamlConnection, SamlProof } from './saml.ts';
import type { Unusable } from './verify.ts';

// Verifies responses in a thread: on the main thread, a large one would block other requests for
// 200 ms (security X11). The process has one such thread, and the tenants take turns (security O15).

/** A response for the thread. A key goes there as a handle, so its bytes are not copied. */
export interface SamlQuestion {
  connection: SamlConnection;
  response: string;
  expected: Expected;
}

/** How long a response waits for its turn, and how long it may take, in milliseconds. */
const [patience, duration] = [5000, 5000];

/**
 * A failure after decryption takes at least this many milliseconds. What comes before, such as the
 * start of the thread and the signature of the response, does not count: the sender may make it long.
 */
const failureTakes = 250;

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./saml-worker.ts', import.meta.url)
  : new URL('./saml-worker.js', import.meta.url);

const late = (message: string) => () =>
  new Refusal('overloaded', message, {
    hint: 'Start the sign-in again in a few seconds.',
    retryAfter: 5,
  });

const thread = createThread<SamlQuestion, SamlProof | Unusable>(program, {
  duration,
  late: late('It took too long to verify the response of the SAML provider.'),
});

/** The turns of the tenants. The thread verifies one response at a time. */
export const samlTurns = createTurns({ each: 1, all: 1 });

const waiting = { patience, late: late('Too many sign-ins by SAML are waiting.') };

/** Verifies a response in the thread; see `Saml`. */
export async function verifyInThread(
  connection: SamlConnection,
  response: string,
  expected: Expected,
): Promise<SamlProof> {
  const ask = () => thread.ask({ connection, response, expected });
  const answer = await samlTurns.run(connection.tenant, ask, waiting);
  if (!('unusable' in answer)) return answer;
  // Others take their turns meanwhile.
  await pause(failureTakes - answer.took);
  throw samlRefused('assertion', 'assertion_unusable', answer.unusable);
}
