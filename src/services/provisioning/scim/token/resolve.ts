import type { Actor, Context } from '../../../../context.ts';
import { hashOfSecret, isEqual } from '../../../../crypto/secret.ts';
import { select } from '../../../../database/select.ts';
import { noteScimTokenUse } from './uses.ts';

interface Row {
  organization_id: string;
  prefix: string;
  hash: string;
  last_used_at: string | Date | null;
}

/**
 * The provisioning client of this token for this organization, or null. An unknown token, another
 * organization's token and an unknown organization give the same answer. One read, without the ORM.
 */
export async function findScimActor(
  ctx: Context,
  org: string,
  credential: string,
): Promise<Actor | null> {
  const hash = hashOfSecret('scim_', credential);
  if (hash === null) return null;
  const [row] = await select<Row>(
    'SELECT organization_id, prefix, hash, last_used_at FROM scim_tokens WHERE hash = $1 AND suspended_at IS NULL',
    [hash],
  );
  if (row === undefined || !isEqual(row.hash, hash) || row.organization_id !== org) return null;
  noteScimTokenUse(ctx, hash, row.last_used_at === null ? null : new Date(row.last_used_at));
  return { kind: 'scim', organizationId: org, name: row.prefix };
}
