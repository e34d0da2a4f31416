import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hold } from '../../src/database/hold.ts';
import { Account } from '../../src/database/models/account.ts';
import { ClientOrigin } from '../../src/database/models/client.ts';
import { Domain } from '../../src/database/models/domain.ts';
import { LdapConnection } from '../../src/database/models/ldap-connection.ts';
import { LoginLink } from '../../src/database/models/login-link.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { PendingSignIn } from '../../src/database/models/pending-sign-in.ts';
import { Project } from '../../src/database/models/project.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { Webhook } from '../../src/database/models/webhook.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { Refusal } from '../../src/errors.ts';
import { recordEvent } from '../../src/services/foundation/events/record.ts';
import { composeMail } from '../../src/services/instance/mail/deliver.ts';
import { forgetProofs } from '../../src/services/people/accounts/account.ts';
import {
  disableUser,
  enableUser,
  setUserPassword,
} from '../../src/services/people/users/operations.ts';
import { admit, holdForSecondFactor } from '../../src/services/signin/admit.ts';
import { byDirectory, enter, seenAs } from '../../src/services/signin/methods/ldap/sign-in.ts';
import { byLoginLink, createLoginLink } from '../../src/services/signin/methods/link.ts';
import { bySso } from '../../src/services/signin/methods/sso.ts';
import { rowIdOf } from '../../src/services/tenancy/clients/client.ts';
import { changeClient, createClient } from '../../src/services/tenancy/clients/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { addMembership } from '../../src/services/tenancy/memberships/join-and-leave.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { createProject, deleteProject } from '../../src/services/tenancy/projects/operations.ts';
import { recordMember } from '../../src/services/tenancy/scim-records/member.ts';
import { requireHeld } from '../../src/services/tenancy/scim-records/record.sql.ts';
import { removeWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, signInByLdap } from '../support/ldap.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { scimClient } from '../support/scim-client.ts';
import { entry, result, startScriptedDirectory } from '../support/scripted-directory.ts';
import { service, suffix } from '../support/slapd.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { failed, returning } from './returning.ts';

// A person loses access while they sign in.

let idctl: Idctl;
let provider: LyingProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startLyingProvider(registration.clientId, '');
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

/**
 * Runs `work` in a transaction and `other` beside it, and returns the answer of `other`. The
 * transaction commits only once `other` waits for a lock or has finished.
 */
async function during<T>(
  work: () => Promise<unknown>,
  other: () => Promise<T>,
  /** Runs at the end of the transaction. */
  last: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const done = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const working = transaction(async () => {
    await work();
    done.resolve();
    await go.promise;
    await last();
  });
  await Promise.race([done.promise, working]);
  const answer = other();
  await endsOrWaits(answer);
  go.resolve();
  await working;
  return answer;
}

/**
 * On PostgreSQL, waits until the work has ended or a session waits for a lock. On SQLite, writers
 * always wait.
 */
async function endsOrWaits(work: Promise<unknown>): Promise<void> {
  const sql =
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  void work.then(end, end);
  while (dialect === 'postgres' && !hasEnded && (await select(sql, [])).length === 0)
    await pause(5);
}

const directoryOf = (uri: string) => ({
  ...service,
  uri,
  tls: false,
  searchBase: suffix,
  searchFilter: '(uid={username})',
  emailAttribute: 'mail',
});

/** A new person, as a directory describes them. */
function somebodyOn(domain: string) {
  const key = { dn: '', issuer: 'dn' as const, subject: fresh('ada') };
  return { ...key, emails: [`${key.subject}@${domain}`], name: 'Ada', groups: null };
}

const liveSessions = (accountId: string) => Session.count({ where: { accountId, endedAt: null } });

describe('races between a sign-in and the loss of access', () => {
  test('I5 a person who is removed while they sign in through SSO is not added again', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { email, id } = await person(idctl, `eve@${domain}`);
    await addMember(idctl.operator(), { org: org.slug, email: email ?? '', role: 'member' });
    const { browser, callback } = await returning(idctl, provider, { domain, claims: { email } });
    const answer = await during(
      () => removeMember(idctl.operator(), { org: org.slug, user: id }),
      () => comeBack(browser, callback),
    );
    expect(answer).toMatchObject(failed);
    expect(await Membership.count({ where: { accountId: id } })).toBe(0);
    expect(await liveSessions(id)).toBe(0);
  });

  test('P5 a sign-in with the old password during a password change does not leave a session', async () => {
    const { email, id } = await person(idctl);
    const answer = await during(
      () => setUserPassword(idctl.operator(), { user: id, password: 'another long one' }),
      () => idctl.client().post('/api/v1/auth/login', { email, password }),
    );
    expect(answer.status).toBe(401);
    expect(await liveSessions(id)).toBe(0);
  });

  test('P2 a sign-in while the account is being disabled does not leave a session that works after it is enabled again', async () => {
    const { email, id } = await person(idctl);
    const answer = await during(
      () => disableUser(idctl.operator(), { user: id }),
      () => idctl.client().post('/api/v1/auth/login', { email, password }),
    );
    expect(answer.status).toBe(401);
    await enableUser(idctl.operator(), { user: id });
    expect(await liveSessions(id)).toBe(0);
  });

  test.each([
    [
      'a mailed code',
      ({ email }: { email: string | null }): Promise<unknown> =>
        composeMail(
          idctl.operator(),
          { about: 'code', purpose: 'signin', email: email ?? '' },
          { again: false, asked: new Date() },
        ),
      (accountId: string) => MailCode.count({ where: { accountId } }),
    ],
    [
      'a login link',
      ({ id: user }: { id: string }): Promise<unknown> =>
        createLoginLink(idctl.operator(), { user }),
      (accountId: string) => LoginLink.count({ where: { accountId } }),
    ],
    [
      'a sign-in that waits for the second factor',
      ({ id }: { id: string }): Promise<unknown> =>
        holdForSecondFactor(idctl.operator(), id, byLoginLink.arrivalOf({})),
      (accountId: string) => PendingSignIn.count({ where: { accountId } }),
    ],
  ])(
    'P2 %s that is made while the account is being disabled does not exist afterwards',
    async (_, make, left) => {
      const account = await person(idctl);
      await during(
        () => disableUser(idctl.operator(), { user: account.id }),
        () => make(account).catch((error: unknown) => expect(error).toBeInstanceOf(Refusal)),
      );
      expect(await left(account.id)).toBe(0);
    },
  );

  test('I3 the earlier holder who signs in while the account is reclaimed has no session afterwards', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const { email, id } = await person(idctl, `eve@${domain}`);
    await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id } }));
    const { browser, callback } = await returning(idctl, provider, { domain, claims: { email } });
    const [squatter, owner] = await Promise.all([
      idctl.client().post('/api/v1/auth/login', { email, password }),
      comeBack(browser, callback),
    ]);
    expect([200, 401]).toContain(squatter.status);
    expect(owner.status).toBe(200);
    const sessions = await Session.findAll({ where: { accountId: id, endedAt: null } });
    expect(sessions.map(({ method, organizationId }) => [method, organizationId])).toEqual([
      ['sso', org.id],
    ]);
  });
});

test.each([
  [
    'its session ends',
    (id: string) => Session.update({ endedAt: new Date() }, { where: { accountId: id } }),
  ],
  ['its account is disabled', (id: string) => disableUser(idctl.operator(), { user: id })],
])('P2 a refresh that waits for its row is refused if %s meanwhile', async (_, change) => {
  const { email, id } = await person(idctl);
  const { refreshToken } = await signedIn(idctl, email);
  const lock = dialect === 'postgres' ? ' FOR UPDATE' : '';
  const answer = await during(
    () =>
      select(
        `SELECT id FROM refresh_tokens WHERE session_id IN (SELECT id FROM sessions WHERE account_id = $1)${lock}`,
        [id],
      ),
    () => idctl.client().post('/api/v1/auth/refresh', { refreshToken }),
    () => change(id),
  );
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_credential' } });
  expect(await liveSessions(id)).toBe(0);
});

test('P2 a sign-in in progress while its organization is deleted does not leave a session', async () => {
  const { org, domain } = await joined(idctl, directoryOf('ldap://127.0.0.1:1'));
  const connection = await LdapConnection.findOne({
    where: { organizationId: org.id },
    rejectOnEmpty: true,
  });
  const ada = somebodyOn(domain);
  await during(
    () => enter(idctl.operator(), connection, ada, null),
    () => deleteOrganization(idctl.operator(), { org: org.slug }),
  );
  const account = await Account.findOne({ where: { email: ada.emails }, rejectOnEmpty: true });
  expect(await liveSessions(account.id)).toBe(0);
});

describe('deleting an organization', () => {
  /** A context with `trust.domains: off`: then a sign-in locks no domain of the organization. */
  const trusting = () => {
    const ctx = idctl.operator();
    return { ...ctx, config: { ...ctx.config, trust: { domains: 'off' as const } } };
  };

  test('P2 if an organization is deleted while a person signs in by LDAP, the sign-in fails, even with trust.domains off', async () => {
    const { org, domain } = await joined(idctl, directoryOf('ldap://127.0.0.1:1'));
    const connection = await LdapConnection.findOne({
      where: { organizationId: org.id },
      rejectOnEmpty: true,
    });
    const ada = somebodyOn(domain);
    const answer = during(
      () => deleteOrganization(idctl.operator(), { org: org.slug }),
      () =>
        admit(
          trusting(),
          byDirectory.arrivalOf({ connection: seenAs(connection), person: ada, returnTo: '/' }),
          { inTwoSteps: false },
        ),
    );
    await expect(answer).rejects.toMatchObject({ code: 'signin_failed' });
    expect(await Account.count({ where: { email: ada.emails } })).toBe(0);
  });

  test('P2 if an organization is deleted while a person signs in through SSO, the sign-in fails too', async () => {
    const { org, domain, connection } = await connected(idctl, provider.issuer);
    const { issuer = '', clientId = '', redirectUri = '' } = connection;
    const { id } = await SsoConnection.findOne({
      where: { organizationId: org.id },
      rejectOnEmpty: true,
    });
    const state = {
      id: fresh('state'),
      connection: id,
      issuer,
      clientId,
      redirectUri,
      returnTo: '/',
    };
    const email = `${fresh('ada')}@${domain}`;
    const said = {
      issuer,
      subject: fresh('sub'),
      email: { address: email, denied: false },
      name: 'Ada',
      groups: { known: true as const, groups: [] },
    };
    const answer = during(
      () => deleteOrganization(idctl.operator(), { org: org.slug }),
      () =>
        admit(trusting(), bySso.arrivalOf({ state: { ...state, browser: '', expires: 0 }, said }), {
          inTwoSteps: true,
        }),
    );
    await expect(answer).rejects.toMatchObject({ code: 'signin_failed' });
    expect(await Account.count({ where: { email } })).toBe(0);
  });

  test.each([true, false])(
    'an organization can be deleted while SCIM changes a person (active: %s), without a deadlock',
    async (active) => {
      const { org, create } = await scimClient(idctl);
      const { id } = await create({ userName: fresh('ada'), active });
      const bob = await person(idctl);
      const as = { role: 'member' as const, origin: { kind: 'manual' as const } };
      const deleted = await during(
        () => requireHeld(org.id, id),
        () => deleteOrganization(idctl.operator(), { org: org.slug }),
        () => addMembership(idctl.operator(), org.id, bob, as),
      );
      expect(deleted).toMatchObject({ id: org.id, members: active ? 3 : 2 });
    },
  );

  test('a request that creates a project in an organization that is being deleted gets not_found', async () => {
    const org = await organization(idctl);
    const owner = await signedIn(idctl, org.owner.email);
    const answer = await during(
      () => deleteOrganization(idctl.operator(), { org: org.slug }),
      () => owner.post(`/api/v1/orgs/${org.slug}/projects`, { name: 'Site' }),
    );
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

test('I2 if a domain is removed while a person signs in by LDAP, no account is linked', async () => {
  const dn = `uid=ada,${suffix}`;
  const entered = { mail: '' };
  const directory = await startScriptedDirectory((request) =>
    request.kind === 'search'
      ? Buffer.concat([entry(request, dn, { mail: [entered.mail] }), result(request)])
      : result(request),
  );
  onTestFinished(() => directory.stop());
  const { org, domain } = await joined(idctl, directoryOf(directory.uri));
  entered.mail = `${fresh('ada')}@${domain}`;
  const removing = () => removeDomain(idctl.operator(), { org: org.slug, domain });
  const signingIn = () => signInByLdap(idctl, { username: 'ada', org: org.slug });
  expect(await during(removing, signingIn)).toMatchObject({ status: 401 });
  expect(await Account.count({ where: { email: entered.mail } })).toBe(0);
});

test('I4 if a domain is removed while SCIM creates a person on it, the address is not proved', async () => {
  const client = await scimClient(idctl);
  const domain = await verifiedDomain(idctl, client.org.slug);
  const userName = `${fresh('ada')}@${domain}`;
  const removing = () => removeDomain(idctl.operator(), { org: client.org.slug, domain });
  const creating = () => client.create({ userName });
  expect(await during(removing, creating)).toMatchObject({ userName });
  expect(await Account.findOne({ where: { email: userName } })).toMatchObject({
    emailProof: 'none',
  });
});

test('if SCIM creates a person who is just joining, SCIM gets 409, and there is one membership', async () => {
  const client = await scimClient(idctl);
  const { email, id } = await person(idctl);
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const as = { role: 'admin' as const, origin: { kind: 'manual' as const } };
  const joining = transaction(async () => {
    const account = await hold.account(id);
    await addMembership(idctl.operator(), client.org.id, { id, email: null }, as);
    begun.resolve();
    await go.promise;
    if (account !== null) await recordMember(idctl.operator(), client.org.id, account);
  });
  await begun.promise;
  const creating = client.send('POST', '/Users', { userName: email });
  await endsOrWaits(creating);
  go.resolve();
  await joining;
  expect(await creating).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  expect(await Membership.findAll({ where: { accountId: id } })).toMatchObject([{ role: 'admin' }]);
});

test('SCIM can rename a person while their domain is removed, without a deadlock', async () => {
  const client = await scimClient(idctl);
  const domain = await verifiedDomain(idctl, client.org.slug);
  const { id } = await client.create({ userName: `${fresh('ada')}@${domain}` });
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const removing = transaction(async () => {
    await Domain.destroy({ where: { name: domain } });
    begun.resolve();
    await go.promise;
    await forgetProofs(domain);
  });
  await begun.promise;
  const renaming = client.patch(id, { op: 'replace', path: 'displayName', value: 'Ada King' });
  await endsOrWaits(renaming);
  go.resolve();
  await removing;
  expect((await renaming).status).toBe(200);
});

test('a project that a client comes to name while it is deleted stays', async () => {
  const { slug: org } = await organization(idctl);
  const ctx = idctl.operator();
  const project = await createProject(ctx, { org, slug: fresh('wiki'), name: 'Wiki' });
  const redirectUris = ['https://wiki.test/callback'];
  await createClient(ctx, createClient.input.parse({ org, name: 'Wiki', redirectUris }));
  const naming = changeClient.input.parse({ org, client: 'Wiki', project: project.slug });
  const deleting = during(
    () => changeClient(ctx, naming),
    () => deleteProject(ctx, { org, project: project.slug }),
  );
  await expect(deleting).rejects.toMatchObject({ code: 'conflict' });
  expect(await Project.findByPk(project.id)).not.toBeNull();
});

test('two webhooks of an organization can be removed together, without a deadlock', async () => {
  const { id: organizationId, slug: org } = await organization(idctl);
  const ctx = idctl.operator();
  const [one, two] = [await addedTo(organizationId), await addedTo(organizationId)];
  // A removal holds the organization before its webhook. Its event then keeps the other webhook.
  const removing = during(
    async () => {
      await hold.organization({ id: organizationId }, 'alone');
      await Webhook.destroy({ where: { id: one } });
    },
    () => removeWebhook(ctx, { org, id: two }),
    () =>
      recordEvent(ctx, { kind: 'organization.renamed', organizationId, data: { from: 'Before' } }),
  );
  expect(await removing).toMatchObject({ id: two });
  expect(await Webhook.count({ where: { organizationId } })).toBe(0);
});

test('a domain and the domain above it can be removed together, without a deadlock', async () => {
  const ctx = idctl.operator();
  const [upper, lower] = [await organization(idctl), await organization(idctl)];
  const above = await verifiedDomain(idctl, upper.slug);
  const below = await verifiedDomain(idctl, lower.slug, `mail.${above}`);
  const redirectUris = ['https://wiki.test/callback'];
  const given = createClient.input.parse({ org: lower.slug, name: 'Wiki', redirectUris });
  const { clientId } = await createClient(ctx, given);
  const origin = `https://wiki.${below}`;
  await transaction(() =>
    ClientOrigin.create({ origin, clientId: rowIdOf(clientId) ?? '', byOperator: false }),
  );
  // A removal holds the domain and keeps its neighbours, in the order of their ids.
  const removing = during(
    () => hold.domain({ name: above }, 'whole'),
    () => removeDomain(ctx, { org: lower.slug, domain: below }),
    () => hold.domain({ name: below }, 'kept'),
  );
  expect(await removing).toMatchObject({ domain: below });
  expect(await ClientOrigin.count({ where: { origin } })).toBe(0);
});

async function addedTo(organizationId: string): Promise<string> {
  const id = crypto.randomUUID();
  const url = `https://${fresh('hooks')}.test/`;
  const row = { id, organizationId, url, secret: '', enabled: true, createdAt: new Date() };
  await transaction(() => Webhook.create(row));
  return id;
}
