import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { newSecret, randomToken } from '../../../crypto/secret.ts';
import { hold } from '../../../database/hold.ts';
import { AccessToken } from '../../../database/models/access-token.ts';
import { OAuthApp } from '../../../database/models/app.ts';
import { Membership } from '../../../database/models/membership.ts';
import type { Organization } from '../../../database/models/organization.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { requireAuthority } from '../../foundation/authority/require.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, name, ref } from '../../foundation/fields.ts';
import { pageInput, pageOf, readRows } from '../../foundation/page.ts';
import { holdAccount } from '../accounts/account.ts';
import { ownOperation, ownOperationById } from '../accounts/own-operation.ts';
import { changedMeanwhile, marksOf } from '../tokens/token.ts';
import { appView, newAppView, recordAppEvent, viewApp } from './app.ts';

// OAuth apps, which act as their owner (spec §2.8).

/** Lists the caller's apps, oldest first. */
export const listApps = ownOperation({
  authority: 'me.see',
  input: z.strictObject(pageInput),
  output: pageOf(appView),
  run: (_ctx, input, { accountId }) =>
    readRows(OAuthApp, { where: { accountId }, include: ['organization'] }, input, (row) =>
      viewApp(row),
    ),
});

/** Registers an app. It may introspect tokens of the named organization, if any (security O9). */
export const registerApp = ownOperation({
  authority: 'me.credentials',
  input: z.strictObject({
    name,
    organization: ref
      .optional()
      .describe(
        'The organization whose members’ tokens it may introspect. You must be its admin or owner.',
      ),
  }),
  output: newAppView,
  run: async (ctx, input, { accountId }) => {
    const organization =
      input.organization === undefined
        ? null
        : await requireAdministered(ctx, accountId, input.organization);
    const { value, hash } = newSecret('cos_secret_');
    const app = await transaction(async () => {
      await holdAccount(ctx, accountId);
      const made = await OAuthApp.create({
        id: orderedId(),
        accountId,
        organizationId: organization?.id ?? null,
        name: input.name,
        clientId: `app-${randomToken(128)}`,
        secretHash: hash,
        ...(await marksOf(ctx)),
        createdAt: ctx.now,
      });
      await recordAppEvent(ctx, { kind: 'app.registered' }, made);
      if (organization !== null) await recordNamed(ctx, made, organization);
      return made;
    });
    return { ...viewApp(app, organization), clientSecret: value };
  },
});

/** Sets the organization whose members' tokens an app may introspect (security O9). */
export const changeApp = ownOperationById({
  authority: 'me.credentials',
  input: z.strictObject({ id, organization: ref }),
  output: appView,
  run: async (ctx, input, whose) => {
    const app = await requireApp(input.id, whose);
    const organization = await requireAdministered(ctx, app.accountId, input.organization);
    await transaction(async () => {
      const renamed = { organizationId: organization.id };
      const [changed] = await OAuthApp.update(renamed, { where: { id: app.id } });
      if (changed === 0) throw noSuchApp(app.id);
      if (app.organizationId !== organization.id) await recordNamed(ctx, app, organization);
    });
    return viewApp(app, organization);
  },
});

/**
 * Gives an app a new secret, and revokes the old one and the app's tokens immediately (security
 * P14). Only one of several parallel calls succeeds, so that every returned secret works.
 */
export const regenerateApp = ownOperationById({
  authority: 'me.credentials',
  input: z.strictObject({ id }),
  output: newAppView,
  run: async (ctx, input, whose) => {
    const app = await requireApp(input.id, whose);
    const { value, hash } = newSecret('cos_secret_');
    await transaction(async () => {
      // Minting also locks the account, so the old secret cannot get a new token.
      await holdAccount(ctx, app.accountId);
      const renewed = { secretHash: hash, suspendedAt: null, ...(await marksOf(ctx)) };
      const [changed] = await OAuthApp.update(renewed, {
        where: { id: app.id, secretHash: app.secretHash },
      });
      if (changed === 0) throw changedMeanwhile('app');
      await AccessToken.destroy({ where: { appId: app.id } });
      await recordAppEvent(ctx, { kind: 'app.regenerated' }, app);
    });
    return { ...viewApp(app.set({ suspendedAt: null })), clientSecret: value };
  },
});

/** Revokes an app for good (spec §3.5), and its tokens unless `keepTokens` is set. */
export const revokeApp = ownOperationById({
  authority: 'me.credentials',
  input: z.strictObject({
    id,
    keepTokens: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .transform((text) => text === 'true'),
  }),
  output: appView,
  ends: {
    ask: ({ name }, { keepTokens }) =>
      `Revoke the app ${name}${keepTokens ? '' : ' and its tokens'} for good?`,
    done: ({ name }) => `Revoked the app ${name}.`,
  },
  run: async (ctx, input, whose) => {
    const app = await requireApp(input.id, whose);
    await transaction(async () => {
      // Minting also locks the account, so no token is created for an app that is being removed.
      await hold.account(app.accountId);
      if (input.keepTokens) await AccessToken.update({ appId: null }, { where: { appId: app.id } });
      if ((await OAuthApp.destroy({ where: { id: app.id } })) === 0) throw noSuchApp(app.id);
      await recordAppEvent(ctx, { kind: 'app.revoked', keepTokens: input.keepTokens }, app);
    });
    return viewApp(app);
  },
});

async function requireApp(id: string, whose: { accountId?: string }): Promise<OAuthApp> {
  const app = await OAuthApp.findOne({ where: { id, ...whose }, include: 'organization' });
  if (app === null) throw noSuchApp(id);
  return app;
}

function noSuchApp(id: string): Refusal {
  return new Refusal('not_found', `There is no app ${id}.`);
}

async function requireAdministered(
  ctx: Context,
  accountId: string,
  org: string,
): Promise<Organization> {
  const { organization } = await requireAuthority(ctx, 'apps.introspect', org);
  const where = { organizationId: organization.id, accountId, role: ['admin', 'owner'] };
  if ((await Membership.count({ where })) > 0) return organization;
  // Only the operator gets here: for any other caller, `requireAuthority` requires an admin.
  throw new Refusal('conflict', `The owner of the app is not an admin of ${organization.slug}.`, {
    hint: [
      {
        say: 'Make the owner an admin first',
        operation: 'member.role',
        with: { org: organization.slug, role: 'admin' },
      },
      {
        say: 'if they are not a member',
        operation: 'member.add',
        with: { org: organization.slug, role: 'admin' },
      },
    ],
  });
}

/** Records an event for the organization's admins: the app may introspect its members' tokens. */
function recordNamed(
  ctx: Context,
  { id, name, accountId: account }: OAuthApp,
  organization: Organization,
) {
  return recordEvent(ctx, {
    kind: 'app.organization.named',
    organizationId: organization.id,
    subject: { type: 'app', id, name },
    data: { account },
  });
}
