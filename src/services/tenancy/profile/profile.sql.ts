import type { Along } from '../../../database/along.ts';
import type { EmailProof } from '../../../database/models/account.ts';
import type { Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';

/** The account with one of its projects, or one of its organizations without a project. */
export interface MeRow {
  email: string | null;
  email_proof: EmailProof;
  awaits_code: boolean;
  name: string;
  locale: string;
  totp_enabled_at: unknown;
  has_passkey: boolean;
  org_id: string | null;
  org_slug: string;
  org_name: string;
  org_role: Role;
  project_id: string | null;
  project_slug: string;
  project_role: ProjectRole;
  synced: boolean;
}

/**
 * The account with its organizations and projects. There is a row for each project, so an
 * organization may repeat. Clients request `me` most often, so HTTP reads it along with the
 * credential, and without the ORM.
 */
export const me: Along<MeRow> = {
  columns: [
    'a.email, a.email_proof, a.awaits_code, a.name, a.locale, a.totp_enabled_at, a.has_passkey',
    'o.id AS org_id, o.slug AS org_slug, o.name AS org_name, m.role AS org_role',
    'p.id AS project_id, p.slug AS project_slug, pm.role AS project_role, pm.synced',
  ],
  joins: `LEFT JOIN memberships m ON m.account_id = a.id
    LEFT JOIN organizations o ON o.id = m.organization_id
    LEFT JOIN project_memberships pm ON pm.account_id = a.id AND EXISTS
      (SELECT 1 FROM projects WHERE id = pm.project_id AND organization_id = o.id)
    LEFT JOIN projects p ON p.id = pm.project_id`,
  order: 'ORDER BY m.organization_id, pm.project_id',
  kinds: { awaits_code: 'flag', has_passkey: 'flag', synced: 'flag' },
};

const alone = `SELECT ${me.columns.join(', ')} FROM accounts a ${me.joins} WHERE a.id = $1 ${me.order}`;

/** The rows of `me`; none if the account is gone. */
export function readMe(accountId: string): Promise<MeRow[]> {
  return select<MeRow>(alone, [accountId], { prepared: true, columns: me.kinds });
}
