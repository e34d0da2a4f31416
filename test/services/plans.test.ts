import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { idAround } from '../../src/crypto/id.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { execute, refreshStatistics } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listActivity } from '../../src/services/foundation/events/activity.ts';
import { listAllEvents, listEvents } from '../../src/services/foundation/events/operations.ts';
import { findUnpushed } from '../../src/services/instance/doctor/organization.sql.ts';
import { checkStored } from '../../src/services/instance/doctor/stored.ts';
import { deliverMail } from '../../src/services/instance/mail/deliver.ts';
import { countBacklog, sweepExpired } from '../../src/services/instance/upkeep.ts';
import { createToken, listTokens } from '../../src/services/people/tokens/operations.ts';
import { writeTokenUses } from '../../src/services/people/tokens/token.ts';
import { listUsers } from '../../src/services/people/users/operations.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { planWaiting } from '../../src/services/provisioning/mappings/replan.ts';
import {
  listScimGroupMembers,
  listScimGroups,
} from '../../src/services/provisioning/scim/groups/admin.ts';
import { listScimUsers } from '../../src/services/provisioning/scim/list/records.ts';
import { listScimRequests, writeRequests } from '../../src/services/provisioning/scim/log.ts';
import { rotateScimToken, writeScimTokenUses } from '../../src/services/provisioning/scim/token.ts';
import { listAttempts } from '../../src/services/signin/attempts.ts';
import { findAnyReference } from '../../src/services/signin/reference.ts';
import { listIdentities } from '../../src/services/tenancy/identities/operations.ts';
import { listInvitations } from '../../src/services/tenancy/invitations/operations.ts';
import { listMembers } from '../../src/services/tenancy/memberships/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { deliverWebhooks } from '../../src/services/tenancy/webhooks/delivery/deliver.ts';
import { listDeliveries } from '../../src/services/tenancy/webhooks/delivery/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { appOf } from '../support/apps.ts';
import { password } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { slowSteps, watchStatements } from '../support/plans.ts';
import { meantSteps } from '../support/plans-meant.ts';
import { fillRows } from '../support/plans-rows.ts';
import { clientOf } from '../support/scim-client.ts';
import { sqliteDriver } from '../support/sqlite-driver.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

// Collects the statements of frequent requests and jobs, with 20,000 rows in each table that grows.
// None of them may read or sort a whole table, except the steps in `meantSteps`.

const rows = 20_000;
let idctl: Idctl;
let provider: OpenIdProvider;
let statements: ReturnType<typeof watchStatements>;

beforeAll(async () => {
  statements = watchStatements();
  idctl = await openIdctl({
    outbound: { allow: ['127.0.0.1'] },
    mail: { smtpUrl: 'smtp://127.0.0.1:9' },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
}, 60_000);
afterAll(async () => {
  await provider.stop();
  await idctl.close();
  vi.restoreAllMocks();
});

/** Statements that must be among those collected: otherwise the test would not check them. */
const hot: Record<string, RegExp> = {
  'a token of a person or an app': /FROM access_tokens t JOIN accounts/,
  'the session of a request': /FROM sessions s JOIN accounts/,
  'the token of a SCIM client': /FROM scim_tokens WHERE hash/,
  'the app that asks for a token': /FROM apps p JOIN accounts/,
  'the count of a limit': /INSERT\s+INTO counters/,
  'the account of an address': /FROM accounts .*email = /s,
  'the account of an external identity': /FROM identities/,
  'the token of a refresh': /FROM refresh_tokens WHERE id/,
  'the end of a refresh token': /UPDATE refresh_tokens SET/,
  'the end of a session': /UPDATE sessions SET ended_at/,
  'a SCIM filter by a key': /WITH found/,
  'the length of a SCIM list': /AS tail FROM/,
  'a page of a SCIM list': /FROM scim_records\s+WHERE organization_id = .* LIMIT/s,
  'the SCIM record of a change': /FROM accounts a .*scim_records r|scim_records r .*accounts a/s,
  'a change of a SCIM record': /UPDATE scim_records SET/,
  'a SCIM group': /FROM scim_groups r\s+WHERE r.id/,
  'the members of a group that a push names': /FROM scim_group_members\s+WHERE record_id IN/,
  'a page of the members of a group': /FROM scim_group_members m JOIN scim_records r .* LIMIT/s,
  'the groups of people': /FROM scim_records r JOIN scim_group_members m/,
  'whether a mapping names a group': /FROM group_mappings\s+WHERE group_name IN/,
  'the people whose roles are planned later': /FROM scim_replans/,
  'the end of a membership': /DELETE FROM memberships/,
  'a page of members': /SELECT account_id AS id FROM memberships/,
  'the members that a search looks at': /COUNT\(\*\) AS count, MAX\(CAST\(m.id/,
  'a search of members': / AS found\s+FROM memberships m/,
  'the SCIM state of organizations': /FROM scim_tokens t LEFT JOIN scim_requests/,
  'the groups that SCIM does not push': / EXCEPT SELECT organization_id, display_name/,
  'the owners of organizations': /m.role = 'owner' AND \(m.organization_id, m.account_id\) > /,
  'the owners with a second factor': /FROM sso_connections c\s+JOIN identities i/,
  'a page of events': /FROM events WHERE organization_id = (?:\$1|\?) AND id > .* LIMIT/,
  'a page of all events': /FROM events WHERE id > .* LIMIT/,
  'a page of events of some kinds': /FROM events WHERE kind = .* UNION ALL .* LIMIT/,
  'a page of the events of a person': /FROM events WHERE COALESCE\(.* UNION ALL .* LIMIT/,
  'the events of a reference': /FROM events\s+WHERE id > .* kind IN/s,
  'the attempt of a reference': /FROM sso_attempts AS SsoAttempt .*reference = /s,
  'a page of accounts': /FROM accounts AS Account .* LIMIT/,
  'a page of sign-in attempts': /FROM sso_attempts AS SsoAttempt .* LIMIT/,
  'a page of invitations': /FROM invitations AS Invitation .* LIMIT/,
  'a page of deliveries': /FROM webhook_deliveries AS WebhookDelivery .* LIMIT/,
  'the mail that is due': /FROM outbox AS OutboxItem .* LIMIT/,
  'the webhooks with messages that are due': /FROM webhooks w/,
  'the last use of a token': /UPDATE access_tokens SET last_used_at/,
  'the backlog of mail': /FROM outbox$/,
  'the sweep of states': /DELETE FROM spent_states/,
  'the sweep of codes': /DELETE FROM mail_codes/,
  'the sweep of links': /DELETE FROM login_links/,
  'the sweep of sign-ins': /DELETE FROM pending_sign_ins/,
  'the sweep of refresh tokens': /DELETE FROM refresh_tokens/,
  'the sweep of sessions': /DELETE FROM sessions/,
  'the sweep of invitations': /DELETE FROM invitations/,
  'the sweep of tokens': /DELETE FROM access_tokens/,
  'the sweep of counts': /DELETE FROM counters/,
  'the sweep of attempts': /DELETE FROM sso_attempts/,
  'the sweep of SCIM requests': /DELETE FROM scim_requests/,
  'the sweep of deliveries': /DELETE FROM webhook_deliveries/,
  'the sweep of sign-ups': /a.email_proof = 'none'/,
  'the sweep of events': /DELETE FROM events/,
  'secrets sealed by a former key': /totp_secret AS sealed/,
};

test.skipIf(sqliteDriver === 'sqlite3')(
  'no frequent statement reads or sorts a whole table of 20,000 rows, except in listed steps',
  async () => {
    const site = await prepare();
    await fillRows(rows, site);
    if (dialect === 'postgres') await transaction(() => execute('ANALYZE', []));
    await refreshStatistics();
    await askAll(site);
    await runJobs();

    const taken = statements.take();
    const missing = Object.entries(hot).filter(
      ([, text]) => !taken.some(({ sql }) => text.test(sql.replaceAll(/[`"]/g, ''))),
    );
    expect(missing.map(([name]) => name)).toEqual([]);
    const slow: Record<string, string[]> = {};
    for (const statement of taken) {
      const steps = (await slowSteps(statement, rows / 10)).filter(
        (step) => !meantSteps.some((each) => each.sql.test(statement.sql) && each.step.test(step)),
      );
      if (steps.length > 0) slow[statement.sql] = steps;
    }
    expect(slow).toEqual({});
  },
  180_000,
);

/** Creates an organization with the credentials that the requests use. */
async function prepare() {
  const { org, domain } = await connected(idctl, provider.issuer);
  const { operator } = idctl;
  const { id, slug, owner } = org;
  const { token: pat } = await createToken(operator(), { user: owner.id, name: 'plans' });
  const app = await appOf(idctl, { user: owner.id, organization: slug });
  const { token } = await rotateScimToken(operator(), { org: slug });
  const hook = { url: 'http://127.0.0.1:9/hooks', events: ['member.*'] };
  const webhook = await addWebhook(operator(), { org: slug, ...hook });
  const connection = await SsoConnection.findOne({ rejectOnEmpty: true });
  await createProject(operator(), { org: slug, name: 'Web', slug: 'web' });
  const mapped = { group: 'u7', project: 'web', role: 'viewer' as const };
  await addMapping(operator(), { org: slug, ...mapped });
  // Creates a session, a refresh token and a bot token, because `fillRows` copies existing rows.
  await idctl.client().post('/api/v1/auth/login', { email: owner.email, password });
  await app.mint();
  const scim = clientOf(idctl, org, token);
  const of = { organizationId: id, accountId: owner.id, connectionId: connection.id };
  return { ...of, webhookId: webhook.id, slug, owner, domain, pat, app, scim };
}

/** Makes every frequent request. */
async function askAll(site: Awaited<ReturnType<typeof prepare>>): Promise<void> {
  const { slug: org, owner, domain, scim, webhookId } = site;
  const { operator } = idctl;
  const browser = idctl.client({ keepCookies: true });
  const login = { email: owner.email, password };
  for (const each of [login, { ...login, password: 'wrong' }])
    await browser.post('/api/v1/auth/login', each);
  // All events of this test are recent, so a search among them may read the whole table.
  const reference = idAround(Date.now() - 86_400_000);
  for (const within of [{}, { org }])
    await expect(findAnyReference(operator(), { reference, ...within })).rejects.toThrow();
  await browser.get('/api/v1/me');
  expect((await browser.post('/api/v1/auth/refresh')).status).toBe(200);
  for (const credential of [site.pat, await site.app.mint()])
    await idctl.client({ headers: { authorization: `Bearer ${credential}` } }).get('/api/v1/me');
  const person = { email: `ada@${domain}`, email_verified: true };
  provider.people.set('ada', person);
  for (const _ of [1, 2])
    expect((await signInAt(idctl, provider, domain, 'ada')).answer.status).toBe(200);
  expect((await browser.post('/api/v1/auth/logout')).status).toBe(204);
  await idctl.client().post('/api/v1/auth/password/reset', { email: owner.email });

  for (const query of ['count=100', 'count=100&startIndex=15001'])
    expect((await scim.get(`/Users?${query}`)).status).toBe(200);
  for (const filter of ['userName eq "u7"', 'externalId eq "e7"', 'emails eq "m7@plans.test"']) {
    const { body } = await scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
    expect([filter, body.totalResults]).toEqual([filter, 1]);
  }
  const { id } = await scim.create({ userName: 'new@elsewhere.test' });
  expect((await scim.get(`/Users/${id}`)).status).toBe(200);
  const change = { op: 'replace', path: 'active', value: false };
  expect((await scim.patch(id, change)).status).toBe(200);
  const put = await scim.send('PUT', `/Users/${id}`, { userName: 'new@elsewhere.test' });
  expect([put.status, (await scim.send('DELETE', `/Users/${id}`)).status]).toEqual([200, 204]);

  await askGroups(scim, org);

  const page = { limit: 50, cursor: '00000000-0000-7000-a000-100000010000' };
  await listMembers(operator(), { org, ...page });
  await listMembers(operator(), { org, ...page, q: 'nowhere' });
  const organizations = await Organization.findAll({ order: ['id'] });
  await checkStored(operator(), organizations);
  const ids = organizations.map(({ id }) => id);
  await findUnpushed(ids, 4);
  await listUsers(operator(), page);
  await listTokens(operator(), { user: owner.id, limit: 50 });
  await listAllEvents(operator(), page);
  for (const by of [{}, { kind: 'scim.*' }, { person: owner.id }, { to: '1d' }]) {
    await listEvents(operator(), { org, ...by, ...page });
    await listActivity(operator(), { org, ...by, limit: 50 });
    await listActivity(operator(), { org, ...by, before: page.cursor, limit: 50 });
  }
  await listScimUsers(operator(), { org, limit: 50 });
  await listScimRequests(operator(), { org, limit: 50 });
  await listAttempts(operator(), { org, limit: 50 });
  await listInvitations(operator(), { org, limit: 50 });
  await listIdentities(operator(), { user: owner.id, limit: 50 });
  await listDeliveries(operator(), { org, id: webhookId, limit: 50 });
}

/** Makes requests about groups. A mapping names the group `u7`, which has everyone as a member. */
async function askGroups(scim: ReturnType<typeof clientOf>, org: string): Promise<void> {
  const { id: person } = await scim.create({ userName: 'grouped@elsewhere.test' });
  const filters = ['displayName eq "U7"', 'externalId eq "e7"', `members.value eq "${person}"`];
  let group = '';
  for (const [at, filter] of filters.entries()) {
    const query = `filter=${encodeURIComponent(filter)}&excludedAttributes=members`;
    const { body } = await scim.get(`/Groups?${query}`);
    expect([filter, body.totalResults]).toEqual([filter, at < 2 ? 1 : 0]);
    group = body.Resources[0]?.id ?? group;
  }
  for (const op of ['add', 'remove']) {
    const Operations = [{ op, path: 'members', value: [{ value: person }] }];
    expect((await scim.send('PATCH', `/Groups/${group}`, { Operations })).status).toBe(204);
  }
  expect((await scim.get(`/Groups/${group}`)).body.members.length).toBeGreaterThan(rows / 2);
  const inGroup = encodeURIComponent(`groups.value eq "${person}"`);
  expect((await scim.get(`/Users?filter=${inGroup}`)).body.totalResults).toBe(0);
  await listScimGroups(idctl.operator(), { org, limit: 5 });
  await listScimGroupMembers(idctl.operator(), { org, members: group, limit: 50 });
}

/** Runs each job that uses these tables once. */
async function runJobs(): Promise<void> {
  const { operator } = idctl;
  const turn = { stop: new AbortController().signal, anew: operator };
  await planWaiting(operator(), turn);
  await deliverMail(operator(), turn);
  await deliverWebhooks(operator(), turn);
  await writeTokenUses(operator());
  await writeScimTokenUses(operator());
  await writeRequests(operator());
  await countBacklog(operator().now);
  await sweepExpired(operator());
}
