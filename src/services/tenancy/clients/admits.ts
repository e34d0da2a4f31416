import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { outranks } from '../../foundation/project-roles.ts';
import { type AdmissionFacts, type Requirements, readRoles, readStanding } from './admits.sql.ts';

/** Why an account may not use a client. The refused person does not learn the reason. */
export type Barred = 'account_disabled' | 'not_a_member' | 'project_role_missing';

/**
 * Why the account may not use the client, or null. Active members of the organization may use it,
 * with the project role that it requires. Call this at each use, because membership and role can
 * end at any time.
 */
export async function barredFrom(
  ctx: Pick<Context, 'config'>,
  client: Requirements,
  accountId: string,
): Promise<Barred | null> {
  const person = await readStanding(ctx, client, accountId);
  return person === null ? 'not_a_member' : barredBy(client, person);
}

/** Like `barredFrom`, for facts that were just read. */
export function barredBy(
  client: Pick<Requirements, 'projectId' | 'role'>,
  { memberRole, disabledAt, projectRole }: AdmissionFacts,
): Barred | null {
  if (memberRole === null) return 'not_a_member';
  if (disabledAt !== null) return 'account_disabled';
  if (client.projectId === null && client.role === null) return null;
  const enough =
    projectRole !== null && client.role !== null && !outranks(client.role, projectRole);
  return enough ? null : 'project_role_missing';
}

/**
 * Like `barredFrom`, for code that then writes a credential. Locks the account, as code that ends a
 * membership does. So a membership ends before this check, or its end also removes the credential.
 * Call it first in the transaction.
 */
export async function holdAdmitted(
  ctx: Pick<Context, 'config'>,
  client: Requirements,
  accountId: string,
): Promise<Barred | null> {
  await hold.accounts([accountId], 'beside');
  return barredFrom(ctx, client, accountId);
}

/** The role in the organization, then `project:role` for each project, as clients get them. */
export async function rolesOf(organizationId: string, accountId: string): Promise<string[]> {
  const rows = await readRoles(organizationId, accountId);
  return rows.map(({ slug, role }) => (slug === '' ? role : `${slug}:${role}`));
}
