import type { SetupPart } from '../../../database/models/setup-link.ts';
import { select } from '../../../database/select.ts';

/** A setup link that still works: an active owner of the organization, or the operator, made it. */
export interface LivingLink {
  id: string;
  organizationId: string;
  organization: string;
  parts: SetupPart[];
  email: string | null;
  expiresAt: Date;
  browserHash: string | null;
}

/** The living link with this hash of its token, of its browser's secret, or with this id. */
export async function findLiving(
  by: 'token_hash' | 'browser_hash' | 'id',
  value: string,
  now: Date,
): Promise<LivingLink | null> {
  const [found] = await select<LivingLink>(
    `SELECT l.id, l.organization_id AS "organizationId", o.name AS organization, l.parts, l.email,
        l.expires_at AS "expiresAt", l.browser_hash AS "browserHash"
       FROM setup_links l JOIN organizations o ON o.id = l.organization_id
      WHERE l.${by} = $1 AND l.expires_at > $2 AND (l.account_id IS NULL OR EXISTS (
        SELECT 1 FROM memberships m JOIN accounts a ON a.id = m.account_id
         WHERE m.account_id = l.account_id AND m.organization_id = l.organization_id
           AND m.role = 'owner' AND a.disabled_at IS NULL))`,
    [value, now],
    { columns: { parts: 'json', expiresAt: 'time' } },
  );
  return found ?? null;
}
