import { z } from 'zod';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import type { Organization } from '../../database/models/organization.ts';
import { Refusal } from '../../errors.ts';
import { requireAuthority } from '../foundation/authority/require.ts';
import { findOwner, ownsAddress } from '../foundation/domain-names/owns.ts';
import { type EventName, eventKinds } from '../foundation/events/kinds.ts';
import { viewForOperator } from '../foundation/events/operations.ts';
import { reasonFor } from '../foundation/events/record.ts';
import { findByReference } from '../foundation/events/reference.sql.ts';
import type { StoredEvent } from '../foundation/events/stored.sql.ts';
import { eventView, operatorEventView, viewEvent } from '../foundation/events/view.ts';
import { ref } from '../foundation/fields.ts';
import { operation } from '../foundation/operation.ts';
import { isJoined } from '../tenancy/memberships/memberships.sql.ts';
import { attemptView, findAttempt } from './attempts.ts';
import { reasonSentence } from './reason-words.ts';

// A page or a problem object shows the id of its request as a reference. If the request was a
// refused sign-in, an event or an attempt stores the reference.

const input = z.strictObject({
  org: ref,
  reference: z
    .uuidv7('must be a reference such as 019aa8f0-5a2c-7c3e-9d41-2f7c5d0f6a11')
    .toLowerCase(),
});

const foundView = z.object({
  event: eventView
    .nullable()
    .describe(
      "The event. If only the operator can list it, the client's network (`address`) is left out.",
    ),
  attempt: attemptView.nullable(),
  reason: z.string().nullable().describe('Why the request was refused, in a sentence.'),
});

export const operatorFoundView = foundView.extend({ event: operatorEventView.nullable() });

/**
 * Finds the event and the sign-in attempt of a reference, if they concern the organization's people
 * or connections. Any other reference is answered like an unknown one (security O7).
 */
export const findReference = operation({
  authority: 'events.see',
  input,
  output: foundView,
  run: (ctx, { reference }, { organization }) => findIn(ctx, organization, reference),
});

/** Finds the event and the attempt of a reference on the whole instance, for the operator. */
export const findAnyReference = operation({
  authority: 'operator',
  input: input.partial({ org: true }),
  output: operatorFoundView,
  run: async (ctx, { org, reference }): Promise<z.input<typeof operatorFoundView>> => {
    if (org !== undefined) {
      const { organization } = await requireAuthority(ctx, 'events.see', org);
      return findIn(ctx, organization, reference);
    }
    const found = await find(reference, null, async () => true);
    const [event = null] = await viewForOperator(found.event === null ? [] : [found.event]);
    return requireFound({ ...found, event });
  },
});

async function findIn(ctx: Context, organization: Organization, reference: string) {
  const { id } = organization;
  const found = await find(reference, id, (event) => concerns(ctx, organization, event));
  const event = found.event && viewForOrganization(found.event);
  return requireFound({ ...found, event });
}

/** The event and the attempt of the reference that the reader may see. */
async function find(
  reference: string,
  organizationId: string | null,
  maySee: (event: StoredEvent) => Promise<boolean>,
) {
  const seen: StoredEvent[] = [];
  for (const event of await findByReference(reference, organizationId))
    if (await maySee(event)) seen.push(event);
  // A request can have several events, such as one about a limit. The one with a reason says more.
  const event = seen.findLast(({ data }) => 'reason' in data) ?? seen.at(-1) ?? null;
  const attempt = await findAttempt(reference, organizationId);
  return { event, attempt, reason: sayWhy(reference, event, attempt) };
}

/** Whether the event concerns the organization's people or connections. */
async function concerns(
  ctx: Context,
  { id }: Organization,
  { organizationId, subject, data: { domain } }: StoredEvent,
): Promise<boolean> {
  if (organizationId !== null) return organizationId === id;
  if (subject?.type === 'user') return isOwnPerson(ctx, id, subject.id);
  return subject === null && typeof domain === 'string' && (await findOwner(domain)) === id;
}

/** Whether the account is a member, or has an address on a verified domain (security O8). */
async function isOwnPerson(ctx: Context, organizationId: string, accountId: string) {
  if (await isJoined(ctx, organizationId, accountId)) return true;
  const account = await Account.findByPk(accountId, { attributes: ['email'] });
  return ownsAddress(organizationId, account?.email ?? null);
}

/** The event as the organization sees it. Only the operator sees the networks of people. */
function viewForOrganization(event: StoredEvent) {
  if (event.organizationId !== null) return viewEvent(event);
  const { address: _, ...data } = event.data;
  return viewEvent({ ...event, data });
}

type Attempt = Awaited<ReturnType<typeof findAttempt>>;

/** Why the request was refused, in a sentence; null after a successful sign-in. */
function sayWhy(reference: string, event: StoredEvent | null, attempt: Attempt): string | null {
  const stage = attempt === null ? {} : { stage: attempt.stage };
  if (event === null)
    return attempt?.code === undefined ? null : reasonSentence(attempt.code, stage);
  const { kind, data } = event;
  // If a server failed, the event has a sentence of its own.
  if (typeof data['message'] === 'string') return data['message'].replace(/\.?$/, '.');
  if ('reason' in data) return reasonSentence(reasonFor(data, reference), { kind, ...stage });
  // Only kinds of the table are recorded.
  return `${eventKinds[kind as EventName].about}.`;
}

/** Refuses if nothing was found, with the same words for every such reference. */
function requireFound<Found extends { event: unknown; attempt: unknown }>(found: Found): Found {
  if (found.event !== null || found.attempt !== null) return found;
  throw new Refusal('not_found', 'No event has this reference: it names only a request.', {
    hint: {
      technical:
        'To see what happened, search the log of the daemon for the line with this requestId.',
    },
  });
}
