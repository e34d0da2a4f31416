import { orderedId } from '../../src/crypto/id.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { ClientOrigin } from '../../src/database/models/client.ts';
import { HostTicket } from '../../src/database/models/host-session.ts';
import { LoginLink } from '../../src/database/models/login-link.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { ScimRequest } from '../../src/database/models/scim-request.ts';
import { Session } from '../../src/database/models/session.ts';
import { SpentState } from '../../src/database/models/spent-state.ts';
import { SsoAttempt } from '../../src/database/models/sso-attempt.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { select, servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateSigningKey } from '../../src/services/foundation/keys/operations.ts';
import { rotateSamlKeys } from '../../src/services/foundation/keys/saml-key.ts';
import { queueMail } from '../../src/services/foundation/mail/queue.ts';
import { announceDaemon } from '../../src/services/instance/daemons.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import type { Company } from './company.ts';

/** The tables from which a job deletes rows by their age. */
export const tablesWithAge = [
  'access_tokens',
  'accounts',
  'counters',
  'daemons',
  'events',
  'host_tickets',
  'invitations',
  'login_links',
  'mail_codes',
  'outbox',
  'pending_sign_ins',
  'provider_records',
  'refresh_tokens',
  'saml_keys',
  'scim_requests',
  'sessions',
  'setup_links',
  'signing_keys',
  'spent_states',
  'sso_attempts',
  'webhook_deliveries',
];

/** Adds a row that is valid now to each of these tables, unless the company has one. */
export async function addExpiring({ instance, member }: Company): Promise<void> {
  const ctx = instance.operator();
  const { now } = ctx;
  const expiresAt = new Date(now.getTime() + 60_000);
  const { id: accountId } = member;
  const origin = 'https://wiki.acme.test';
  const client = { org: 'acme', name: 'Protected', forwardAuthOrigins: [origin] };
  await createClient(ctx, createClient.input.parse(client));
  const configuration = { file: '', digest: '', restDigest: '' };
  const daemon = { id: orderedId(), listen: 'http://127.0.0.1:1', configuration, proxy: null };
  await announceDaemon(ctx, daemon);
  await rotateSigningKey(ctx, {});
  await rotateSamlKeys(ctx, { immediately: true });
  await rotateSamlKeys(ctx, { immediately: true });
  const acme = await Organization.findOne({ where: { slug: 'acme' }, rejectOnEmpty: true });
  const sso = await SsoConnection.findOne({ rejectOnEmpty: true });
  const session = await Session.findOne({ where: { accountId }, rejectOnEmpty: true });
  await ClientOrigin.findByPk(origin, { rejectOnEmpty: true });
  await transaction(async () => {
    await AccessToken.create({
      ...{ id: orderedId(), accountId, appId: null, kind: 'bot', name: 'bot:x', description: null },
      ...{ prefix: 'p', hash: 'h', createdAt: now, expiresAt, lastUsedAt: null },
    });
    const signedUp = { emailProof: 'none' as const, awaitsCode: true, createdAt: now };
    const { id: _, ...copied } = (await Account.findByPk(accountId, { rejectOnEmpty: true })).get({
      plain: true,
    });
    await Account.create({ ...copied, id: orderedId(), email: 'new@acme.test', ...signedUp });
    const ticket = { sessionId: session.id, origin, browser: 'b', returnTo: '/' };
    await HostTicket.create({ id: 'ticket', ...ticket, expiresAt });
    await LoginLink.create({ id: 'link', accountId, expiresAt });
    await MailCode.create({ accountId, purpose: 'signin', hash: 'h', tries: 0, expiresAt });
    await PendingSignIn.create({ id: 'pending', accountId, payload: {}, expiresAt });
    await SpentState.create({ id: 'state', expiresAt });
    const request = { method: 'GET', path: '/Users', status: 200, reason: null };
    await ScimRequest.create({ id: orderedId(), organizationId: acme.id, at: now, ...request });
    const attempt = { stage: 'session' as const, ok: true, code: null, groupsMalformed: false };
    await SsoAttempt.create({ id: orderedId(), connectionId: sso.id, at: now, ...attempt });
    await WebhookDelivery.update({ status: 'delivered', endedAt: now }, { where: {} });
    const { id: invitation } = (
      await select<{ id: string }>('SELECT id FROM invitations', [])
    )[0] ?? { id: '' };
    const about = 'invitation' as const;
    await queueMail(ctx, { about, invitation, organizationId: acme.id });
  });
}

/** The primary keys of all rows, by table. */
export async function listKeys(): Promise<Map<string, string[]>> {
  const keys = new Map<string, string[]>();
  for (const model of Object.values(servedDatabase().models)) {
    const rows = await model.findAll({ attributes: [...model.primaryKeyAttributes] });
    keys.set(
      String(model.getTableName()),
      rows.map((row) => JSON.stringify(row.get({ plain: true }))),
    );
  }
  return keys;
}

/** The tables of `before` that have lost a row since then. */
export async function findLosses(before: Map<string, string[]>): Promise<string[]> {
  const now = await listKeys();
  const lost = ([table, keys]: [string, string[]]) => {
    const left = new Set(now.get(table));
    return keys.some((key) => !left.has(key)) ? [table] : [];
  };
  return [...before].flatMap(lost).sort();
}
