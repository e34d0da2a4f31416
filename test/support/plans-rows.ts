import { idOfInstant } from '../../src/crypto/id.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Invitation } from '../../src/database/models/invitation.ts';
import { LoginLink } from '../../src/database/models/login-link.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { ScimRequest } from '../../src/database/models/scim-request.ts';
import { SpentState } from '../../src/database/models/spent-state.ts';
import { SsoAttempt } from '../../src/database/models/sso-attempt.ts';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { execute } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { multiply, nthId, nthInstant } from './plans.ts';

/** Adds `rows` rows to each table that grows, as copies of a seed row. */
export async function fillRows(
  rows: number,
  of: { organizationId: string; accountId: string; connectionId: string; webhookId: string },
): Promise<void> {
  const { organizationId, accountId, connectionId, webhookId } = of;
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  const account = nthId('a000');
  const recently = idOfInstant(now.getTime()).slice(0, 13);
  await transaction(async () => {
    await Counter.create({
      key: 'seed',
      subject: 'seed',
      windowId: crypto.randomUUID(),
      used: 1,
      seconds: 3600,
      beganAt: now.getTime() / 1000,
      expiresAt: later.getTime() / 1000,
    });
    await OutboxItem.create({
      id: crypto.randomUUID(),
      kind: 'mail',
      payload: {},
      createdAt: now,
      nextAt: later,
    });
    await SpentState.create({ id: 'seed', expiresAt: later });
    await ScimRequest.create({
      id: crypto.randomUUID(),
      organizationId,
      at: now,
      method: 'GET',
      path: '/Users',
      status: 200,
      reason: null,
    });
    await LoginLink.create({ id: crypto.randomUUID(), accountId, expiresAt: later });
    await PendingSignIn.create({
      id: crypto.randomUUID(),
      accountId,
      payload: {},
      expiresAt: later,
    });
    await SsoAttempt.create({
      id: crypto.randomUUID(),
      connectionId,
      at: now,
      stage: 'session',
      ok: true,
      code: null,
      email: null,
      groups: null,
      groupsMalformed: false,
      reference: null,
    });
    await Invitation.create({
      id: crypto.randomUUID(),
      organizationId,
      email: 'seed@plans.test',
      role: 'member',
      invitedBy: null,
      tokenHash: 'seed',
      createdAt: now,
      expiresAt: later,
    });
    await Identity.create({
      id: crypto.randomUUID(),
      accountId,
      kind: 'sso',
      connectionId,
      organizationId,
      issuer: 'https://plans.test',
      subject: 'seed',
      linkedAt: now,
    });
    await WebhookDelivery.create({
      id: crypto.randomUUID(),
      webhookId,
      event: 'member.added',
      body: '{}',
      at: now,
      status: 'delivered',
      nextAt: null,
      endedAt: now,
    });
    await MailCode.create({
      accountId,
      purpose: 'reset',
      hash: 'seed',
      tries: 0,
      expiresAt: later,
    });
  });
  const word = (start: string) => `'${start}' || n`;
  await multiply('accounts', rows, { id: account, email: `'m' || n || '@plans.test'` });
  const role = `CASE n % 100 WHEN 0 THEN 'owner' ELSE 'member' END`;
  await multiply('memberships', rows, { account_id: account, role });
  await multiply('sessions', rows, { id: nthId('a001'), account_id: account });
  await multiply('refresh_tokens', rows, {
    id: nthId('a002', recently),
    session_id: nthId('a001'),
  });
  await multiply('access_tokens', rows, {
    id: nthId('a003'),
    account_id: account,
    hash: word('h'),
  });
  await multiply('apps', rows, {
    id: nthId('a008'),
    account_id: account,
    client_id: word('c'),
    secret_hash: word('h'),
  });
  await multiply('events', rows, { id: nthId('a004', recently) });
  await multiply('counters', rows, { key: word('k'), subject: word('s') });
  await multiply('outbox', rows, { id: nthId('a005') });
  await multiply('spent_states', rows, { id: word('s') });
  // An organization or a connection keeps only a few hundred of the rows below, so add many of
  // both.
  const organizations = Math.ceil(rows / 100);
  const any = (kind: string) => nthId(kind, undefined, `1 + n % ${organizations}`);
  await multiply('organizations', organizations, { id: nthId('a00f'), slug: word('o') });
  await multiply('scim_requests', rows, { id: nthId('a006'), organization_id: any('a00f') });
  await multiply('sso_connections', organizations, {
    id: nthId('a010'),
    organization_id: nthId('a00f'),
    email_domain: word('d'),
  });
  await multiply('mail_codes', rows, { account_id: account });
  await multiply('login_links', rows, { id: nthId('a009'), account_id: account });
  await multiply('pending_sign_ins', rows, { id: nthId('a00a'), account_id: account });
  await multiply('sso_attempts', rows, { id: nthId('a00b'), connection_id: any('a010') });
  await multiply('invitations', rows, {
    id: nthId('a00c'),
    email: `'m' || n || '@plans.test'`,
    token_hash: word('h'),
  });
  await multiply('identities', rows, {
    id: nthId('a00d'),
    account_id: account,
    subject: word('s'),
  });
  await multiply('webhook_deliveries', rows, { id: nthId('a00e', recently) });
  await multiply('scim_records', rows, {
    id: nthId('a007'),
    account_id: account,
    link: `'created'`,
    user_name: word('u'),
    user_name_canonical: word('u'),
    external_id: word('e'),
    created_at: nthInstant(),
  });
  await transaction(() =>
    execute(
      `INSERT INTO scim_emails (record_id, value_canonical, organization_id)
       SELECT r.id, 'm' || substr(r.user_name, 2) || '@plans.test', r.organization_id
         FROM scim_records r WHERE r.external_id IS NOT NULL`,
      [],
    ),
  );
  await fillGroups();
}

/**
 * Adds one group for each person, with that person as a member. The group `u7` also has everyone
 * else.
 */
async function fillGroups(): Promise<void> {
  const people = 'FROM scim_records r WHERE r.external_id IS NOT NULL';
  const columns = 'group_id, record_id, organization_id';
  const fill = [
    `INSERT INTO scim_groups (id, organization_id, display_name, display_name_canonical, external_id,
       version, created_at, modified_at)
     SELECT r.id, r.organization_id, r.user_name, r.user_name_canonical, r.external_id, 1,
       r.created_at, r.created_at ${people}`,
    `INSERT INTO scim_group_members (${columns}) SELECT r.id, r.id, r.organization_id ${people}`,
    `INSERT INTO scim_group_members (${columns})
     SELECT g.id, r.id, r.organization_id FROM scim_records r JOIN scim_groups g
       ON g.display_name = 'u7' WHERE r.external_id IS NOT NULL AND r.id <> g.id`,
  ];
  for (const sql of fill) await transaction(() => execute(sql, []));
}
