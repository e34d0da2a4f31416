import type { z } from 'zod';
import type { ConnectionKindName } from '../connection-kinds.ts';
import { Refusal } from '../errors.ts';
import { withMore } from '../next.ts';
import type { Change } from '../services/signin/shut-out.ts';
import type { approvalView } from '../services/tenancy/connections/approval.ts';
import { persons } from '../text/words.ts';
import { type Affected, affectedFields, sessionsEndedField, shutOutBy } from './consequences.ts';
import { commandText } from './next.ts';
import type { Fields } from './output.ts';
import { askSecret, canAsk, confirmed } from './prompt.ts';
import type { Call, Runs } from './run.ts';
import type { Examination } from './steps.ts';

// The shared parts of the commands about a connection to a provider or a directory.

type Tested = 'provider' | 'directory';
type Input = Record<string, unknown>;

/** The fields of a connection that show whether an owner approved it. */
export const approvalFields: Fields<z.output<typeof approvalView>> = [
  ['Approved', (view) => view.approved],
  ['Changed by', (view) => view.changedBy?.name ?? view.changedBy?.kind ?? null],
];

/** The option that skips the test of a connection. */
export const force = (tested: Tested) => ({ '--force': `do not test the ${tested} first` });

/** If the test failed, asks whether to continue anyway. Without a terminal, refuses. */
export async function requirePassed(
  call: Call,
  tested: Tested,
  { ok, message, steps }: Examination,
): Promise<void> {
  if (ok) return;
  const change = steps.find((step) => !step.ok)?.hint;
  if (!canAsk()) {
    const told = `The test of the ${tested} failed. Nothing was changed. ${message}`;
    const hint = 'To continue anyway, add --force.';
    throw new Refusal('not_confirmed', told, { hint: withMore(change, hint) });
  }
  call.note(change === undefined ? message : `${message}\n${commandText(change)}`);
  await confirmed(`The test of the ${tested} failed. Continue anyway?`);
}

/** Runs the work with the given secret. If only the secret is missing, asks for it and retries. */
export async function withSecret<View>(
  { name, question, secret }: { name: string; question: string; secret: string | undefined },
  work: (secret: string | undefined) => Promise<View>,
): Promise<View> {
  try {
    return await work(secret);
  } catch (error) {
    if (!lacks(name, error) || secret !== undefined || !canAsk()) throw error;
    return work(await askSecret(question));
  }
}

/** Whether the error concerns only the secret, whose field is `name`. */
function lacks(name: string, error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  if (error.code === 'secret_required') return true;
  return error.faults.length > 0 && error.faults.every(({ path }) => path === name);
}

/** Enables a connection. Unless `--force` is given, `requireUsable` tests the connection first. */
export async function enableConnection<View>(
  call: Call,
  enable: Runs<View>,
  fields: Fields<View>,
  requireUsable: (call: Call, input: Input) => Promise<void>,
): Promise<View> {
  const { force: unasked, ...input } = call.input;
  await call.rehearse(enable, input);
  if (unasked !== true) await requireUsable(call, input);
  const view = await call.operate(enable, input);
  call.show(view, fields);
  return view;
}

/** Notes that no owner has approved the connection. With `--json`, the view says it (security I8). */
export async function tellWaiting(
  call: Call,
  kind: ConnectionKindName,
  connection: { approved: boolean },
): Promise<void> {
  if (call.flags.json) return;
  const { findWaiting } = await import('../services/tenancy/connections/waiting.ts');
  const waiting = findWaiting(connection, kind, String(call.input['org']));
  if (waiting !== null) call.note(`The connection ${waiting.seen}. ${commandText(waiting.hint)}`);
}

/** Shows where a connection points, asks, and approves exactly that. */
export async function approveConnection<View extends { pointsAt: string }>(
  call: Call,
  {
    show,
    approve,
    fields,
    called,
  }: {
    fields: Fields<View>;
    called: (view: View) => string;
    show: Runs<View>;
    approve: Runs<View>;
  },
): Promise<void> {
  const seen = await call.operate(show);
  if (!call.flags.dryRun && !call.flags.yes) {
    for (const [title, value] of fields) call.note(`${title}: ${String(value(seen) ?? '-')}`);
    await call.confirm(`Let owners sign in through ${called(seen)}?`);
  }
  await call.perform(approve, fields, { ...call.input, pointsAt: seen.pointsAt });
}

interface Ending<View> {
  fields: Fields<View>;
  change: Change;
}

/** Disables a connection, after a question that says who signs in through it. */
export async function disableConnection<View extends Affected>(
  call: Call,
  disable: Runs<View>,
  { fields, change }: Ending<View>,
): Promise<void> {
  const shutOut = await shutOutBy(call, change);
  await call.destroy(disable, { fields: [...fields, ...affectedFields], warning: shutOut });
}

/** Unlinks people, so that their next sign-in links them again. */
export async function relinkPeople<View extends { people: string[] }>(
  call: Call,
  relink: Runs<View>,
  { fields, question }: { fields: Fields<View>; question: (view: View) => string },
): Promise<void> {
  await call.destroy(relink, {
    fields,
    ends: {
      ask: question,
      done: ({ people }) => `${persons(people)} ${are(people)} linked again at the next sign-in.`,
    },
  });
}

/** Removes a connection, after a question that says what ends. */
export async function removeConnection<View extends Affected & { sessionsEnded: number }>(
  call: Call,
  remove: Runs<View>,
  { fields, change }: Ending<View>,
): Promise<void> {
  await call.destroy(remove, {
    fields: [...fields, ...affectedFields, sessionsEndedField],
    warning: await shutOutBy(call, change),
  });
}

function are({ length }: string[]): string {
  return length === 1 ? 'is' : 'are';
}
