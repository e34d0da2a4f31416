import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant } from '../../foundation/fields.ts';
import { pageInput, pageOf } from '../../foundation/page.ts';
import { ownOperation } from '../../people/accounts/own-operation.ts';
import { idleSince, isSessionLive } from '../../people/sessions/live.ts';
import { clientIdOf, isClientId, rowIdOf } from '../../tenancy/clients/client.ts';
import { signOutOf } from './ends.ts';

// The applications that a person is signed in to, in their live sessions.

const signedInView = z.object({
  clientId: z.string(),
  name: z.string(),
  organization: z.object({ id, slug: z.string(), name: z.string() }),
  since: instant.describe('When the oldest of your sessions that are signed in to it began.'),
  sessions: z.int().describe('How many of your sessions are signed in to it.'),
});

interface Row {
  rowId: string;
  name: string;
  organizationId: string;
  slug: string;
  organization: string;
  issuedAt: Date;
}

// A session is signed in to a client by a grant, by cookies of the client's hosts, or by both.
const read = `WITH mine AS (SELECT s.id, s.created_at FROM sessions s
    WHERE s.account_id = $1 AND ${isSessionLive('$2', '$3')}),
  there AS (SELECT g.client_id, g.session_id FROM mine
      JOIN provider_records g ON g.session_id = mine.id AND g.model = 'Grant'
    UNION SELECT o.client_id, h.session_id FROM mine
      JOIN host_sessions h ON h.session_id = mine.id JOIN client_origins o ON o.origin = h.origin)
  SELECT c.id AS "rowId", c.name, o.id AS "organizationId", o.slug, o.name AS organization,
    mine.created_at AS "issuedAt"
  FROM there JOIN mine ON mine.id = there.session_id
  JOIN clients c ON c.id = there.client_id JOIN organizations o ON o.id = c.organization_id
  ORDER BY c.name, c.id, mine.created_at`;

async function readSignedIn(ctx: Context, accountId: string) {
  const found = new Map<string, z.output<typeof signedInView>>();
  const rows = await select<Row>(read, [accountId, ctx.now, idleSince(ctx)], {
    columns: { issuedAt: 'time' },
  });
  for (const row of rows) {
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
