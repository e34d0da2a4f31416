import { z } from 'zod';
import { rowsAlong } from '../../../database/along.ts';
import { hold } from '../../../database/hold.ts';
import type { ProjectRole } from '../../../database/models/project.ts';
import { transaction } from '../../../database/transaction.ts';
import { shownIn } from '../../foundation/authority/shown.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { id, locale, name, projectRole, role, userRef } from '../../foundation/fields.ts';
import { listLockouts } from '../../foundation/limits/password.ts';
import { operation } from '../../foundation/operation.ts';
import {
  requireAccount,
  userRefInput,
  userView,
  viewOwner,
  viewUser,
} from '../../people/accounts/account.ts';
import { listCredentials } from '../../people/credentials/credentials.ts';
import { shownUserView } from '../../people/users/operations.ts';
import { forgetFormerAddress } from '../memberships/removed.ts';
import { recordRenamed } from '../scim-records/member.ts';
import { hasSso } from '../signin-settings/methods.ts';
import { deleteAccount, findLeftOwnerless } from './deletion.ts';
import { type MeRow, me, readMe } from './profile.sql.ts';

/** The account of the caller, with the organizations they belong to. */
export const meView = userView.omit({ disabled: true, createdAt: true }).extend({
  organizations: z.array(
    z.object({
      id,
      slug: z.string(),
      name: z.string(),
      role,
      projects: z.array(z.object({ id, slug: z.string(), role: projectRole, synced: z.boolean() })),
    }),
  ),
});

/** Shows the caller, with the organizations they belong to. */
export const showMe = operation({
  authority: 'me.see',
  input: z.strictObject({}),
  output: meView,
  along: me,
  run: async (ctx, _input, person) => {
    const { accountId } = person;
    const rows = rowsAlong(person, me) ?? (await readMe(accountId));
    const [account] = rows;
    if (account === undefined) throw new Error('the account was deleted within its own request');
    const {
      email_proof: emailProof,
      awaits_code: awaitsCode,
      totp_enabled_at,
      has_passkey,
    } = account;
    const own = { ...account, id: accountId, emailProof, awaitsCode };
    return {
      ...viewOwner(ctx, own, totp_enabled_at !== null || has_passkey),
      organizations: organizationsIn(rows),
    };
  },
});

function organizationsIn(rows: MeRow[]) {
  const organizations = new Map<string, ReturnType<typeof organizationIn>>();
  for (const row of rows) {
    if (row.org_id === null) continue;
    const organization = organizations.get(row.org_id) ?? organizationIn(row, row.org_id);
    organizations.set(row.org_id, organization);
    if (row.project_id === null) continue;
    const { project_id: id, project_slug: slug, project_role: role, synced } = row;
    organization.projects.push({ id, slug, role, synced });
  }
  return [...organizations.values()];
}

function organizationIn({ org_slug: slug, org_name: name, org_role: role }: MeRow, id: string) {
  const projects: { id: string; slug: string; role: ProjectRole; synced: boolean }[] = [];
  return { id, slug, name, role, projects };
}

/** Changes the caller's name and locale. An absent field keeps its value. */
export const updateMe = operation({
  authority: 'me.change',
  input: z.strictObject({ name: name.optional(), locale: locale.optional() }),
  output: meView,
  run: async (ctx, input, { accountId }) => {
    await transaction(async () => {
      // SCIM must not write a record between this read and the renaming.
      const account = await hold.account(accountId);
      if (account === null) throw new Error('the account of the caller is gone');
      const renamed = input.name !== undefined && input.name !== account.name;
      await account.update({
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(input.locale === undefined ? {} : { locale: input.locale }),
      });
      if (renamed) await recordRenamed(ctx, account);
    });
    return showMe(ctx, {});
  },
});

/** A deleted account, and the organizations that it left without an owner. */
export const deletedUserView = userView.extend({
  ownerless: z.array(z.object({ id, slug: z.string() })),
});

/**
 * Deletes an account with all its data, and frees its address (security O6). Deletes even a last
 * owner: the answer names the organizations left without an owner (security O8).
 */
export const deleteUser = operation({
  authority: 'operator',
  input: z.strictObject({ user: userRef }),
  output: deletedUserView,
  ends: {
    ask: ({ email, name }) => `Delete the account of ${email ?? name}?`,
    effects: ({ ownerless }) =>
      ownerless.length === 0
        ? []
        : [
            `These organizations will have no owner: ${ownerless.map(({ slug }) => slug).join(', ')}.`,
          ],
    done: ({ email, name, ownerless }) => [
      `Deleted the account of ${email ?? name}.`,
      ...ownerless.map(({ slug: org }) => ({
        say: `${org} has no owner now. Add one`,
        operation: 'member.add' as const,
        with: { org, role: 'owner' },
      })),
    ],
  },
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    const ownerless = await transaction(async () => {
      await hold.account(account.id);
      const left = await findLeftOwnerless(account.id);
      // The deletion removes what an organization shows in place of the account's name.
      const abouts: ReturnType<typeof eventAbout>[] = [];
      for (const { id: organizationId } of left) {
        const { name } = await shownIn(organizationId, account);
        abouts.push(eventAbout('user', { id: account.id, name }, organizationId));
      }
      await forgetFormerAddress(ctx, account.email);
      await deleteAccount(ctx, account, { ownerless: left.map(({ slug }) => slug) });
      for (const about of abouts)
        await recordEvent(ctx, { kind: 'organization.ownerless', ...about });
      return left.map(({ id, slug }) => ({ id, slug }));
    });
    return { ...viewUser(ctx, account), ownerless };
  },
});

/** Shows one account, its lockouts, and its credentials, which an earlier holder may have left. */
export const showUser = operation({
  authority: 'operator',
  input: userRefInput,
  output: shownUserView,
  run: async (ctx, input) => {
    const account = await requireAccount(input.user);
    const { emailProof, awaitsCode } = account;
    const credentials = await listCredentials(ctx, account.id);
    const lockouts = await listLockouts(ctx, account);
    const singleSignOn = account.email !== null && (await hasSso(ctx, domainOf(account.email)));
    return {
      ...viewUser(ctx, account),
      emailProof,
      awaitsCode,
      credentials,
      singleSignOn,
      lockouts,
    };
  },
});
