import { Op } from 'sequelize';
import { connectionKinds } from '../../connection-kinds.ts';
import type { Context } from '../../context.ts';
import { AccessToken } from '../../database/models/access-token.ts';
import { Account, hasSecondFactor } from '../../database/models/account.ts';
import { OAuthApp } from '../../database/models/app.ts';
import { Identity } from '../../database/models/identity.ts';
import { Organization } from '../../database/models/organization.ts';
import { Session } from '../../database/models/session.ts';
import { SsoConnection } from '../../database/models/sso-connection.ts';
import { requireUser } from '../foundation/authority/require.ts';
import { domainOf } from '../foundation/domain-names/canonical.ts';
import { isMailConfigured } from '../foundation/mail/configured.ts';
import { viewOwner } from '../people/accounts/account.ts';
import { isRecovering } from '../people/codes/recovery-code.ts';
import { findPasskeyObstacle } from '../people/passkeys/relying-party.ts';
import { askToConfirm, isRecentlyProven } from '../people/two-factor/recent.ts';
import { showRecoveryCodes } from '../people/two-factor/recovery-codes.ts';
import { isManaged } from '../tenancy/addresses/managed.ts';
import { findAdmitting } from '../tenancy/clients/admits.sql.ts';
import { isTrusted } from '../tenancy/connections/usable.ts';
import { describeOrganizations } from '../tenancy/profile/own-organizations.ts';
import { findMethodRefusal, findMethods } from '../tenancy/signin-settings/methods.ts';
import { asksOwnSecondFactor } from '../tenancy/sso/connection.ts';

import { listPasskeys, maxPasskeys } from './passkeys/operations.ts';
import { listWaiting } from './waiting.ts';

/** The maximum number of applications that the page lists. */
const maxApplications = 200;

/** The caller's account, without the organizations. */
export async function describeOwner(ctx: Context) {
  const { accountId } = requireUser(ctx, 'me.see');
  return viewOwn(ctx, await Account.findByPk(accountId, { rejectOnEmpty: true }));
}

function viewOwn(ctx: Context, account: Account) {
  return viewOwner(ctx, account, hasSecondFactor(account));
}

/** Describes what the account page shows in addition to the API views. */
export async function describeAccount(ctx: Context, browser: string | undefined) {
  const { accountId } = requireUser(ctx, 'me.see');
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  const [
    address,
    password,
    passkeys,
    recoveryCodes,
    recovering,
    recent,
    singleSignOn,
    sessions,
    apps,
    { organizations, hasMore },
    waiting,
    applications,
  ] = await Promise.all([
    describeAddress(ctx, account),
    describePassword(ctx, account),
    describePasskeys(ctx, account),
    showRecoveryCodes(ctx, {}),
    hasSecondFactor(account) && isRecovering(accountId),
    isRecentlyProven(ctx, account),
    listSingleSignOn(ctx, account),
    organizationsOfSessions(accountId),
    appsOfTokens(accountId),
    describeOrganizations(accountId),
    listWaiting(ctx, accountId),
    findAdmitting(ctx, accountId, maxApplications),
  ]);
  const totp = account.totpEnabledAt !== null;
  const toConfirm = recent ? null : await askToConfirm(ctx, account, browser);
  return {
    me: viewOwn(ctx, account),
    address,
    password,
    passkeys,
    recoveryCodes,
    /** Whether the last second factor was a recovery code, and nothing has replaced it since. */
    recovering,
    toConfirm,
    totp,
    singleSignOn,
    sessions,
    apps,
    organizations,
    hasMore,
    waiting,
    applications,
  };
}

/** Whether the person may change the address of the account, or why not. */
async function describeAddress(ctx: Context, { email }: Account) {
  if (await isManaged(ctx, email)) return 'managed' as const;
  return isMailConfigured(ctx) ? ('changeable' as const) : ('no mail' as const);
}

/** Whether the account has a password, or the person may choose one by mail. */
async function describePassword(ctx: Context, { email, passwordHash }: Account) {
  if (passwordHash !== null) return 'there' as const;
  if (email === null || !isMailConfigured(ctx)) return 'none' as const;
  const methods = await findMethods(ctx, domainOf(email));
  return methods.includes('password') ? ('may be chosen' as const) : ('none' as const);
}

/**
 * The passkeys, and why more cannot be added; null if there are none and `baseUrl` does not allow
 * any.
 */
async function describePasskeys(ctx: Context, account: Account) {
  const { items } = await listPasskeys(ctx, { limit: maxPasskeys });
  if (findPasskeyObstacle(ctx) !== null)
    return items.length === 0 ? null : { items, noMore: 'address' as const };
  if ((await findMethodRefusal(ctx, account, { method: 'passkey' })) !== null)
    return { items, noMore: 'settings' as const };
  return { items, noMore: items.length < maxPasskeys ? null : ('most' as const) };
}

/**
 * Lists the organizations whose single sign-on the person can use. `asksHere`: whether idctl then
 * asks for the account's second factor.
 */
async function listSingleSignOn(ctx: Context, { id, email }: Account) {
  const keys = await Identity.findAll({
    where: { accountId: id, kind: connectionKinds.sso.name },
    attributes: ['connectionId'],
  });
  const own = { id: keys.map(({ connectionId }) => connectionId) };
  const ways = email === null ? [own] : [own, { emailDomain: domainOf(email) }];
  const connections = await SsoConnection.findAll({
    where: { enabled: true, [Op.or]: ways },
    order: ['id'],
  });
  const names = await namesOf(connections.map(({ organizationId }) => organizationId));
  const found = [];
  for (const connection of connections) {
    if (!(await isTrusted(ctx, connection))) continue;
    const organization = names.get(connection.organizationId) ?? '';
    found.push({ organization, asksHere: await asksOwnSecondFactor(ctx, connection, id) });
  }
  return found;
}

/** The name of the organization that each session came through, by session id. */
async function organizationsOfSessions(accountId: string): Promise<Map<string, string>> {
  const where = { accountId, endedAt: null, organizationId: { [Op.ne]: null } };
  const sessions = await Session.findAll({ where, attributes: ['id', 'organizationId'] });
  const names = await namesOf(sessions.flatMap(({ organizationId }) => organizationId ?? []));
  return new Map(
    sessions.map(({ id, organizationId }) => [id, names.get(organizationId ?? '') ?? '']),
  );
}

/** The app that each bot token was created for, and the app's organization, by token id. */
async function appsOfTokens(accountId: string) {
  const tokens = await AccessToken.findAll({
    where: { accountId, kind: 'bot' },
    attributes: ['id', 'appId'],
    include: {
      model: OAuthApp,
      as: 'app',
      required: true,
      include: [{ model: Organization, as: 'organization' }],
    },
  });
  return new Map(
    tokens.flatMap(({ id, app }) =>
      app ? [[id, { name: app.name, organization: app.organization?.name ?? null }] as const] : [],
    ),
  );
}

async function namesOf(ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await Organization.findAll({
    where: { id: [...new Set(ids)] },
    attributes: ['id', 'name'],
  });
  return new Map(found.map(({ id, name }) => [id, name]));
}
