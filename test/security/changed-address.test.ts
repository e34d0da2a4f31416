import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Counter } from '../../src/database/models/counter.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Invitation } from '../../src/database/models/invitation.ts';
import { MailCode } from '../../src/database/models/mail-code.ts';
import { OutboxItem } from '../../src/database/models/outbox-item.ts';
import { ScimRecord } from '../../src/database/models/scim-record.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { setUserPassword } from '../../src/services/people/users/operations.ts';
import { revokeScimToken, rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { createInvitation } from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { disableSso } from '../../src/services/tenancy/sso/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import { type MailingIdctl, openMailingIdctl } from '../support/mail.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

let idctl: MailingIdctl;
let provider: OpenIdProvider;
beforeAll(async () => {
  idctl = await openMailingIdctl({
    signup: { open: 'on' },
    signin: { magicCode: 'on' },
    limits: { addressFailures: 100_000 },
    outbound: { allow: ['127.0.0.1'] },
  });
  const { clientId: client_id, clientSecret: client_secret } = registration;
  const redirect_uris = [`${idctl.baseUrl}/auth/sso/callback`];
  provider = await startOpenIdProvider({ clients: [{ client_id, client_secret, redirect_uris }] });
});
afterAll(async () => {
  await idctl.close();
  await provider.stop();
});

const newAddress = () => `${fresh('new')}@example.test`;
const request = (client: Client, email: string) => client.post('/api/v1/me/email', { email });
const confirm = (client: Client, email: string, code: string) =>
  client.post('/api/v1/me/email/confirm', { email, code });
const auth = (path: string, body: object) => idctl.client().post(`/api/v1/auth/${path}`, body);
const login = async (email: string) => (await auth('login', { email, password })).status;
const accountOf = (email: string) => Account.findOne({ where: { email } });

/** A new person, with their address and a client with a fresh session. */
async function someone(email?: string) {
  const made = await person(idctl, email);
  return { id: made.id, email: made.email ?? '', client: await signedIn(idctl, made.email) };
}

/** Asks for the new address, and reads the code in its mailbox. */
async function codeFor(client: Client, email: string): Promise<string> {
  expect(await request(client, email)).toMatchObject({ status: 202, body: {} });
  return idctl.codeFor(email);
}

/** Changes the address of the person. */
async function move(client: Client, email = newAddress()): Promise<string> {
  expect(await confirm(client, email, await codeFor(client, email))).toMatchObject({ status: 200 });
  return email;
}

/** Signs up without confirming the address. */
async function signUp(email = newAddress()): Promise<string> {
  expect((await auth('signup', { email, password, name: 'Nora' })).status).toBe(201);
  await idctl.deliver();
  return email;
}

/** The whole answer, except the request id and the time. */
function wire({ status, headers, body }: Answer): string {
  const { requestId: _, ...rest } = body;
  return JSON.stringify([status, { ...headers, date: '', 'x-request-id': '' }, rest]);
}

const invalid = { status: 401, body: { code: 'code_invalid' } };

describe('security P18: a changed address', () => {
  test('P18 the mailed code gives the account its new address with proof by mail; other sessions end, and the old address is told', async () => {
    const ada = await someone();
    const other = await signedIn(idctl, ada.email);
    await transaction(() => Account.update({ emailProof: 'auto' }, { where: { id: ada.id } }));
    const email = newAddress();
    expect((await request(ada.client, email.toUpperCase())).status).toBe(202);
    const code = await idctl.codeFor(email);
    expect((await accountOf(ada.email))?.id).toBe(ada.id);
    const answer = await confirm(ada.client, email, ` ${code.slice(0, 3)} ${code.slice(3)}`);
    expect(answer).toMatchObject({
      status: 200,
      body: { id: ada.id, email, emailVerified: true, name: 'Ada Byron', organizations: [] },
    });
    expect(await accountOf(email)).toMatchObject({ id: ada.id, emailProof: 'mail' });
    expect((await ada.client.get('/api/v1/me')).body).toEqual(answer.body);
    expect((await other.get('/api/v1/me')).status).toBe(401);
    expect([await login(ada.email), await login(email)]).toEqual([401, 200]);
    const letters = await idctl.lettersTo(ada.email);
    expect(letters.map(({ subject }) => subject)).toEqual([
      'Sign-in from a new browser - idctl',
      'Your e-mail address was changed - idctl',
    ]);
    expect(letters.at(-1)?.text).not.toContain(email);
    expect((await idctl.lettersTo(email)).at(-1)?.text).toContain('This is the new address.');
    const changed = await Event.findOne({ where: { kind: 'user.email.changed' } });
    expect(changed).toMatchObject({
      actor: { kind: 'user', id: ada.id },
      subject: { type: 'user', id: ada.id },
      data: { from: ada.email, to: email },
    });
  });

  test('P18 the answers for a free address, a taken one and one that waits for its confirmation are the same bytes, after the same writes', async () => {
    const ada = await someone();
    const taken = (await person(idctl)).email ?? '';
    const rows = async () => ({
      outbox: await OutboxItem.count(),
      counters: await Counter.count(),
      counted: await Counter.sum('used'),
    });
    // The minute of a limit must not end between two sums of counters.
    idctl.stopClock();
    // The first request makes the counters of the account and of the network.
    await request(ada.client, newAddress());
    const seen = [];
    for (const email of [newAddress(), taken, await signUp()]) {
      await idctl.deliver();
      const before = await rows();
      const answer = await request(ada.client, email);
      const after = await rows();
      expect(after).toEqual({
        outbox: before.outbox + 1,
        counters: before.counters,
        counted: before.counted + 2,
      });
      seen.push(wire(answer));
    }
    expect(seen[0]).toContain('202');
    expect(new Set(seen).size).toBe(1);
  });

  test('P18 a request for another address ends the earlier code, whether that address is free or taken', async () => {
    const taken = (await person(idctl)).email ?? '';
    for (const other of [newAddress(), taken, await signUp()]) {
      const ada = await someone();
      const email = newAddress();
      const code = await codeFor(ada.client, email);
      await request(ada.client, other);
      await idctl.deliver();
      expect(await confirm(ada.client, email, code)).toMatchObject(invalid);
    }
  });

  test('P18 the holder of a taken address gets a note instead of a code, once a day at most, for all requests together', async () => {
    const holder = (await person(idctl)).email ?? '';
    const askers = [await someone(), await someone()];
    for (const { client } of [...askers, ...askers]) await request(client, holder);
    const letters = await idctl.lettersTo(holder);
    expect(letters).toMatchObject([{ subject: 'Your address is in use - idctl' }]);
    expect(letters[0]?.text).not.toMatch(/\b\d{6}\b/);
    idctl.wait(86_401);
    await request((await someone()).client, holder);
    expect(await idctl.lettersTo(holder)).toHaveLength(2);
  });

  test('P18 an account can ask for five new addresses in an hour', async () => {
    const { client } = await someone();
    const statuses = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await request(client, newAddress())).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
  });

  test('P18 P10 the mailbox of a new address gets at most five codes an hour, for all requests together', async () => {
    const email = newAddress();
    for (let count = 0; count < 7; count += 1) await request((await someone()).client, email);
    expect(await idctl.lettersTo(email)).toHaveLength(5);
  });

  test('P18 the change needs a session with a recent sign-in; a token is never enough', async () => {
    const ada = await someone();
    const { token } = await createToken(idctl.operator(), { user: ada.id, name: 'ci' });
    idctl.app.config.tokens.manageCredentials = 'on';
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    const email = newAddress();
    const refused = { status: 403, body: { code: 'session_required' } };
    expect(await request(byToken, email)).toMatchObject(refused);
    const code = await codeFor(ada.client, email);
    expect(await confirm(byToken, email, code)).toMatchObject(refused);
    idctl.app.config.tokens.manageCredentials = 'off';
    idctl.wait(601);
    expect(await request(ada.client, newAddress())).toMatchObject({
      status: 403,
      body: { code: 'recent_sign_in_required', methods: ['password'] },
    });
    await ada.client.post('/api/v1/auth/confirm', { password });
    await move(ada.client);
  });

  test('P18 the own address is refused as a new one, and without mail every address is', async () => {
    const ada = await someone();
    expect(await request(ada.client, ada.email)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input' },
    });
    const { smtpUrl } = idctl.app.config.mail;
    delete idctl.app.config.mail.smtpUrl;
    const email = newAddress();
    const answers = [await request(ada.client, email), await confirm(ada.client, email, '000000')];
    idctl.app.config.mail.smtpUrl = smtpUrl;
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 409, body: { code: 'mail_not_configured' } });
  });

  test('P18 P10 a code is valid once, for ten minutes, for five attempts, and for its account, address and purpose only', async () => {
    const [ada, grace] = [await someone(), await someone()];
    const email = newAddress();
    const code = await codeFor(ada.client, email);
    expect(await confirm(grace.client, email, code)).toMatchObject(invalid);
    expect(await confirm(ada.client, newAddress(), code)).toMatchObject(invalid);
    for (const path of ['magic-code/verify', 'verify-email'])
      for (const one of [ada.email, email])
        expect(await auth(path, { email: one, code })).toMatchObject(invalid);
    await auth('magic-code', { email: ada.email });
    const signIn = await idctl.codeFor(ada.email);
    if (signIn !== code) expect(await confirm(ada.client, email, signIn)).toMatchObject(invalid);
    expect((await confirm(ada.client, email, code)).status).toBe(200);
    expect((await confirm(ada.client, email, code)).status).toBe(400);

    const late = newAddress();
    const expired = await codeFor(grace.client, late);
    idctl.wait(601);
    expect(await confirm(grace.client, late, expired)).toMatchObject(invalid);

    const mia = await someone();
    const guessed = newAddress();
    const right = await codeFor(mia.client, guessed);
    const wrong = right === '000000' ? '000001' : '000000';
    for (let count = 0; count < 5; count += 1) await confirm(mia.client, guessed, wrong);
    expect(await confirm(mia.client, guessed, right)).toMatchObject(invalid);
  });

  test('P18 P10 a new password ends the code, and so does a second request', async () => {
    const ada = await someone();
    const email = newAddress();
    const first = await codeFor(ada.client, email);
    const second = await codeFor(ada.client, email);
    if (first !== second) expect(await confirm(ada.client, email, first)).toMatchObject(invalid);
    await ada.client.post('/api/v1/me/password', {
      currentPassword: password,
      newPassword: 'a staple of another kind',
    });
    expect(await confirm(ada.client, email, second)).toMatchObject(invalid);
    const third = await codeFor(ada.client, email);
    await setUserPassword(idctl.operator(), { user: ada.id, password });
    const back = await signedIn(idctl, ada.email);
    expect(await confirm(back, email, third)).toMatchObject(invalid);
  });

  test('P18 codes and links to the old address die, also those that wait in the queue', async () => {
    const ada = await someone();
    await auth('magic-code', { email: ada.email });
    const signIn = await idctl.codeFor(ada.email);
    await auth('password/reset', { email: ada.email });
    const reset = await idctl.codeFor(ada.email);
    const { url } = await createLoginLink(idctl.operator(), { user: ada.id });
    const [elsewhere, email] = [newAddress(), newAddress()];
    const code = await codeFor(ada.client, email);
    await request(ada.client, elsewhere);
    await auth('password/reset', { email: ada.email });
    expect((await confirm(ada.client, email, code)).status).toBe(200);
    expect(await idctl.lettersTo(elsewhere)).toEqual([]);
    expect((await idctl.lettersTo(ada.email)).at(-1)?.subject).toContain('was changed');
    expect(await MailCode.count({ where: { accountId: ada.id } })).toBe(0);
    const newPassword = 'a staple of another kind';
    for (const one of [ada.email, email]) {
      expect(await auth('magic-code/verify', { email: one, code: signIn })).toMatchObject(invalid);
      expect(
        await auth('password/reset/confirm', { email: one, code: reset, newPassword }),
      ).toMatchObject(invalid);
    }
    const token = new URL(url).searchParams.get('token') ?? '';
    const { status } = await idctl.client().form('/login/link', { token });
    expect(status).toBe(403);
    expect(await login(email)).toBe(200);
  });

  test('P18 an address that an unverified account holds is not taken: the account is deleted, with an event', async () => {
    const ada = await someone();
    const email = await signUp();
    const holder = await accountOf(email);
    await move(ada.client, email);
    expect((await accountOf(email))?.id).toBe(ada.id);
    expect(await Account.findByPk(holder?.id)).toBeNull();
    const events = await Event.findAll({ where: { kind: 'user.deleted' } });
    expect(events.filter(({ subject }) => subject?.id === holder?.id)).toHaveLength(1);
    // A sign-up that was queued before finds the address taken.
    expect(await signUp(email)).toBe(email);
    expect((await idctl.lettersTo(email)).at(-1)?.subject).toContain('You have an account');
    expect(await accountOf(email)).toMatchObject({ id: ada.id, emailProof: 'mail' });
  });

  test.each(['membership', 'former membership'])(
    'P18 an unverified account with a %s stays without an address, and without what its holder left',
    async (kind) => {
      const ada = await someone();
      const email = await signUp();
      const holder = await accountOf(email);
      const { slug: org } = await organization(idctl);
      await addMember(idctl.operator(), { org, email, role: 'member' });
      if (kind !== 'membership') await removeMember(idctl.operator(), { org, user: email });
      const records = () => ScimRecord.findAll({ where: { accountId: holder?.id ?? '' } });
      const before = (await records()).map((row) => row.toJSON());
      expect(before).toMatchObject([{ userName: email }]);
      await createToken(idctl.operator(), { user: email, name: 'left' });
      await move(ada.client, email);
      expect(await Account.findByPk(holder?.id)).toMatchObject({
        email: null,
        emailProof: 'none',
        passwordHash: null,
        awaitsCode: false,
      });
      expect((await records()).map((row) => row.toJSON())).toEqual(before);
      const events = await Event.findAll({ order: ['id'] });
      const about = events.filter(({ subject }) => subject?.id === holder?.id);
      expect(about.slice(-2)).toMatchObject([
        { kind: 'account.reclaimed', data: { by: 'mail' } },
        { kind: 'user.email.removed', data: { email } },
      ]);
    },
  );

  test('P18 a disabled unverified account keeps its address', async () => {
    const ada = await someone();
    const email = await signUp();
    const code = await codeFor(ada.client, email);
    await transaction(() => Account.update({ disabledAt: new Date() }, { where: { email } }));
    expect(await confirm(ada.client, email, code)).toMatchObject(invalid);
  });

  test('P18 an address that was taken meanwhile is refused with the bytes of an expired code, and nothing changes', async () => {
    const [ada, grace] = [await someone(), await someone()];
    const [late, taken] = [newAddress(), newAddress()];
    const expired = await codeFor(ada.client, late);
    idctl.wait(601);
    await ada.client.post('/api/v1/auth/confirm', { password });
    const answer = await confirm(ada.client, late, expired);
    await grace.client.post('/api/v1/auth/confirm', { password });
    const code = await codeFor(ada.client, taken);
    await move(grace.client, taken);
    const meanwhile = await confirm(ada.client, taken, code);
    expect(meanwhile).toMatchObject(invalid);
    expect(wire(meanwhile)).toBe(wire(answer));
    expect((await ada.client.get('/api/v1/me')).body.email).toBe(ada.email);
    expect((await accountOf(taken))?.id).toBe(grace.id);
  });

  test('P18 of several accounts that confirm one address at the same time, one gets it', async () => {
    const people = [await someone(), await someone(), await someone()];
    const email = newAddress();
    const codes: string[] = [];
    for (const { client } of people) codes.push(await codeFor(client, email));
    const answers = await Promise.all(
      people.map(({ client }, at) => confirm(client, email, codes[at] ?? '')),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 401, 401]);
    expect(await Account.count({ where: { email } })).toBe(1);
  });

  test.each(['sso', 'ldap'] as const)(
    'P18 I4 I8 a session through a connection (%s) can neither change the address nor delete the account',
    async (method) => {
      const { id, email, client } = await someone();
      const org = await organization(idctl);
      await addMember(idctl.operator(), { org: org.slug, email, role: 'member' });
      const account = await Account.findByPk(id, { rejectOnEmpty: true });
      const via = { method, connection: { id: orderedId(), organizationId: org.id } };
      const begun = await transaction(() => beginSession(idctl.operator(), account, via));
      const through = idctl.client({ keepCookies: true });
      through.jar.set('access_token', requireSession(begun).accessToken);
      const refused = { status: 403, body: { code: 'session_required' } };
      const wanted = newAddress();
      expect(await request(through, wanted)).toMatchObject(refused);
      const code = await codeFor(client, wanted);
      expect(await confirm(through, wanted, code)).toMatchObject(refused);
      expect(await through.send('DELETE', '/api/v1/me')).toMatchObject(refused);
      expect((await Account.findByPk(id))?.email).toBe(email);
      expect(await confirm(client, wanted, code)).toMatchObject({ status: 200 });
    },
  );

  test('P18 wrong codes count against the caller, with an event, and not against the holder of the address', async () => {
    const [ada, eve] = [await someone(), await someone()];
    for (let at = 0; at < 10; at += 1)
      expect(await confirm(eve.client, ada.email, '000000')).toMatchObject(invalid);
    expect((await confirm(eve.client, ada.email, '000000')).status).toBe(429);
    expect(await login(ada.email)).toBe(200);
    const events = await Event.findAll({ where: { kind: 'user.email.refused' } });
    const counts = events
      .filter(({ subject }) => subject?.id === eve.id)
      .map(({ data }) => data['count']);
    expect(counts).toEqual([10]);
  });

  test('P18 an address that an organization has come to manage since the request is not changed', async () => {
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const ada = await someone(`${fresh('ada')}@${domain}`);
    const email = newAddress();
    const code = await codeFor(ada.client, email);
    await rotateScimToken(idctl.operator(), { org: org.slug });
    const managed = { status: 409, body: { code: 'address_managed' } };
    expect(await confirm(ada.client, email, code)).toMatchObject(managed);
  });

  test('P18 SCIM records and external keys keep their values, and invitations to the old address stay', async () => {
    const { org, domain } = await connected(idctl, provider.issuer);
    const sub = fresh('grace');
    const email = `${sub}@${domain}`;
    provider.people.set(sub, { email, email_verified: true, name: 'Grace' });
    const { client } = await signInAt(idctl, provider, domain, sub);
    const { id } = (await client.get('/api/v1/me')).body;
    const elsewhere = (await organization(idctl)).slug;
    await createInvitation(idctl.operator(), { org: elsewhere, email, role: 'member' });
    await disableSso(idctl.operator(), { org: org.slug });
    const kept = async () => ({
      records: (await ScimRecord.findAll({ where: { accountId: id } })).map((row) => row.toJSON()),
      keys: (await Identity.findAll({ where: { accountId: id } })).map((row) => row.toJSON()),
      invitations: (await Invitation.findAll({ where: { email } })).map((row) => row.toJSON()),
    });
    const before = await kept();
    expect([before.records.length, before.keys.length, before.invitations.length]).toEqual([
      1, 1, 1,
    ]);
    // The session through the provider may not change the address.
    await setUserPassword(idctl.operator(), { user: id, password });
    const moved = await move(await signedIn(idctl, email));
    expect(await kept()).toEqual(before);
    const members = await idctl.client().get(`/api/v1/orgs/${org.slug}/members`, {
      authorization: `Bearer ${(await signedIn(idctl, org.owner.email)).accessToken}`,
    });
    expect(members.body.items.map((member: { email: string }) => member.email)).toContain(moved);
  });

  test('P18 an address on a verified domain of an organization with an enabled connection or a SCIM token is managed: neither the old nor the new one can be', async () => {
    const managed = { status: 409, body: { code: 'address_managed' } };
    const org = await organization(idctl);
    const domain = await verifiedDomain(idctl, org.slug);
    const own = await someone(`${fresh('mia')}@${domain}`);
    const other = await someone();
    const there = () => `${fresh('new')}@${domain}`;
    const [code, email] = [await codeFor(own.client, newAddress()), there()];
    const mine = await codeFor(other.client, email);
    await rotateScimToken(idctl.operator(), { org: org.slug });
    expect(await request(own.client, newAddress())).toMatchObject(managed);
    expect(await request(other.client, there())).toMatchObject({
      ...managed,
      body: { hint: 'Use another address.' },
    });
    expect(await confirm(own.client, newAddress(), code)).toMatchObject(managed);
    expect(await confirm(other.client, email, mine)).toMatchObject(managed);
    await revokeScimToken(idctl.operator(), { org: org.slug });
    expect((await confirm(other.client, email, mine)).status).toBe(200);

    const { domain: connectedDomain, org: withSso } = await connected(idctl, provider.issuer);
    const employee = await someone(`${fresh('eva')}@${connectedDomain}`);
    expect(await request(employee.client, newAddress())).toMatchObject(managed);
    await disableSso(idctl.operator(), { org: withSso.slug });
    await move(employee.client);
  });
});
