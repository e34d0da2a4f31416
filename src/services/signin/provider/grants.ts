import type { Context } from '../../../context.ts';
import { execute, select } from '../../../database/select.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { eventOfClient } from '../../tenancy/clients/client.ts';

// A grant stands for one session at one client. Codes and tokens carry its id.

/** A grant of a session, and the row id of its client. */
export interface GrantOfSession {
  clientId: string;
  grantId: string;
}

/** The grants of a session. */
export async function grantsOf(sessionId: string): Promise<GrantOfSession[]> {
  return select(
    `SELECT client_id AS "clientId", grant_id AS "grantId" FROM provider_records
      WHERE session_id = $1 AND model = 'Grant'`,
    [sessionId],
    { prepared: true },
  );
}

/** Deletes a grant with all its codes and tokens. Call it inside a transaction. */
export async function endGrant(grantId: string): Promise<void> {
  await execute('DELETE FROM provider_records WHERE grant_id = $1', [grantId]);
}

interface Row {
  id: string;
  name: string;
  organizationId: string;
  sessionId: string;
}

/** Records that a code or refresh token was used again. Call it before the grant ends. */
export async function recordReuse(ctx: Context, grantId: string): Promise<void> {
  const [client] = await select<Row>(
    `SELECT c.id, c.name, c.organization_id AS "organizationId",
        r.session_id AS "sessionId"
      FROM provider_records r JOIN clients c ON c.id = r.client_id
      WHERE r.grant_id = $1 AND r.model = 'Grant'`,
    [grantId],
  );
  if (client === undefined) return;
  await recordEvent(ctx, {
    kind: 'client.reuse.detected',
    ...eventOfClient(client),
    data: { session: client.sessionId },
  });
}
