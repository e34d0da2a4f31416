import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { ownOperation } from '../../people/accounts/own-operation.ts';
import { clientIdOf, isClientId, rowIdOf } from '../../tenancy/clients/client.ts';
import { signOutOf } from './ends.ts';
import { findSignedInClients } from './grants.sql.ts';

// The applications that a person is signed in to, in their live sessions.

/** An application that a person is signed in to. */
export const signedInView = z.object({
  clientId: z.string(),
  name: z.string(),
  organization: z.object({ id, slug: z.string(), name: z.string() }),
  since: instant.describe(
    'The start of your oldest session that is signed in to this application.',
  ),
  sessions: z.int().describe('How many of your sessions are signed in to it.'),
});

async function readSignedIn(ctx: Context, accountId: string) {
  const found = new Map<string, z.output<typeof signedInView>>();
  for (const row of await findSignedInClients(ctx, accountId)) {
    const known = found.get(row.rowId);
    if (known !== undefined) {
      known.sessions += 1;
      continue;
    }
    const organization = { id: row.organizationId, slug: row.slug, name: row.organization };
    found.set(row.rowId, {
      clientId: clientIdOf({ id: row.rowId }),
      name: row.name,
      organization,
      since: row.issuedAt.toISOString(),
      sessions: 1,
    });
  }
  return [...found.values()];
}

/** Lists the applications that the caller is signed in to: one page, because they are few. */
export const listSignedIn = ownOperation({
  authority: 'sessions.see',
  input: z.strictObject(pageInput),
  output: pageOf(signedInView),
  run: async (ctx, _input, { accountId }) => {
    return { items: await readSignedIn(ctx, accountId), nextCursor: null };
  },
});

/** Signs the caller out of one application. Their session at idctl continues. */
export const endSignedIn = ownOperation({
  authority: 'sessions.end',
  input: z.strictObject({
    clientId: z.string().max(100).refine(isClientId, 'must be a client id'),
  }),
  output: signedInView,
  run: async (ctx, input, { accountId }) => {
    const signedIn = (await readSignedIn(ctx, accountId)).find(
      ({ clientId }) => clientId === input.clientId,
    );
    const rowId = rowIdOf(input.clientId);
    if (signedIn === undefined || rowId === null)
      throw new Refusal('not_found', `You are not signed in to ${input.clientId}.`);
    await transaction(async () => {
      for (const sid of await signOutOf(ctx, accountId, rowId)) {
        await recordEvent(ctx, {
          kind: 'client.session.ended',
          organizationId: signedIn.organization.id,
          subject: { type: 'client', id: input.clientId, name: signedIn.name },
          data: { account: accountId, session: sid },
        });
      }
    });
    return signedIn;
  },
});
