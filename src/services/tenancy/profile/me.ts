import { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account, type EmailProof } from '../../../database/models/account.ts';
import type { Role } from '../../../database/models/membership.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { select } from '../../../database/select.ts';
import { transaction } from '../../../database/transaction.ts';
import { requireUser } from '../../foundation/authority/require.ts';
import type { updateMeInput } from '../../people/accounts/schema.ts';
import { viewOwner } from '../../people/accounts/view.ts';
import { recordRenamed } from '../scim-records/member.ts';

// Past the ORM, in one query: nothing is asked for more often. Each organization is repeated for every
// project of the person's in it.
const query = `SELECT a.email, a.email_proof, a.awaits_code, a.name, a.locale, a.totp_enabled_at,
    o.id AS org_id, o.slug AS org_slug, o.name AS org_name, m.role AS org_role,
    p.id AS project_id, p.slug AS project_slug, pm.role AS project_role, pm.synced
  FROM accounts a
  LEFT JOIN memberships m ON m.account_id = a.id
  LEFT JOIN organizations o ON o.id = m.organization_id
  LEFT JOIN project_memberships pm ON pm.account_id = a.id AND EXISTS
    (SELECT 1 FROM projects WHERE id = pm.project_id AND organization_id = o.id)
  LEFT JOIN projects p ON p.id = pm.project_id
  WHERE a.id = $1 ORDER BY m.organization_id, pm.project_id`;

interface Row {
  email: string | null;
  email_proof: EmailProof;
  /** A number on SQLite. */
  awaits_code: boolean | number;
  name: string;
  locale: string;
  totp_enabled_at: unknown;
  org_id: string | null;
  org_slug: string;
  org_name: string;
  org_role: Role;
  project_id: string | null;
  project_slug: string;
  project_role: ProjectRole;
  /** A number on SQLite. */
  synced: boolean | number;
}

/** The person who asks, with the organizations they belong to. */
export async function showMe(ctx: Context) {
  const { accountId } = requireUser(ctx, 'me.see');
  const rows = await select<Row>(query, [accountId], { prepared: true });
  const [account] = rows;
  if (account === undefined) throw new Error('the account was deleted within its own request');
  return {
    ...viewOwner(
      ctx,
      {
        id: accountId,
        emailProof: account.email_proof,
        awaitsCode: Boolean(account.awaits_code),
        ...account,
      },
      account.totp_enabled_at !== null,
    ),
    organizations: organizationsIn(rows),
  };
}

function organizationsIn(rows: Row[]) {
  const organizations = new Map<string, ReturnType<typeof organizationIn>>();
  for (const row of rows) {
    if (row.org_id === null) continue;
    const organization = organizations.get(row.org_id) ?? organizationIn(row, row.org_id);
    organizations.set(row.org_id, organization);
    if (row.project_id === null) continue;
    const { project_id: id, project_slug: slug, project_role: role, synced } = row;
    organization.projects.push({ id, slug, role, synced: Boolean(synced) });
  }
  return [...organizations.values()];
}

function organizationIn({ org_slug: slug, org_name: name, org_role: role }: Row, id: string) {
  const projects: { id: string; slug: string; role: ProjectRole; synced: boolean }[] = [];
  return { id, slug, name, role, projects };
}

/** Changes the name and locale of the person who asks; what is absent stays. */
export async function updateMe(ctx: Context, input: z.output<typeof updateMeInput>) {
  const { accountId } = requireUser(ctx, 'me.change');
  const { name, locale } = input;
  await transaction(async () => {
    // Held, so that no client of provisioning writes into a record between its reading and its renaming.
    const lock = Transaction.LOCK.NO_KEY_UPDATE;
    const account = await Account.findByPk(accountId, { rejectOnEmpty: true, lock });
    const renamed = name !== undefined && name !== account.name;
    await account.update({
      ...(name === undefined ? {} : { name }),
      ...(locale === undefined ? {} : { locale }),
    });
    if (renamed) await recordRenamed(ctx, account);
  });
  return showMe(ctx);
}
