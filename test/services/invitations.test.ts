import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Invitation } from '../../src/database/models/invitation.ts';
import { transaction } from '../../src/database/transaction.ts';
import { disableUser } from '../../src/services/people/users/operations.ts';
import {
  createInvitation,
  revokeInvitation,
} from '../../src/services/tenancy/invitations/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import {
  changeMemberRole,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import {
  fresh,
  organization,
  password,
  person,
  signedIn,
  verifiedDomain,
} from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { openMailingIdctl } from '../support/mail.ts';

const address = () => `${fresh('ina')}@example.test`;
const signUpBody = (email: string, more: object = {}) => ({
  email,
  password,
  name: 'Ina',
  ...more,
});

describe('O6 invitations', () => {
  let idctl: Idctl;
  beforeAll(async () => {
    idctl = await openIdctl();
  });
  afterAll(() => idctl.close());

  /** An organization, and its owner signed in. */
  async function company() {
    const org = await organization(idctl);
    const owner = await signedIn(idctl, org.owner.email);
    const invite = (email: string, role = 'member') =>
      owner.post(`/api/v1/orgs/${org.slug}/invitations`, { email, role });
    return { org, owner, invite, operator: idctl.operator() };
  }

  /** A client signed in to a new account. */
  async function somebody(email = address()) {
    await person(idctl, email);
    return signedIn(idctl, email);
  }

  const accept = (client: Client, token: string) =>
    client.post('/api/v1/invitations/accept', { token });

  test('O6 an invitation for an address has a 128-bit token and a link, which are shown once; only a hash is stored', async () => {
    const { org, owner, invite } = await company();
    const email = address();
    const answer = await invite(email.toUpperCase(), 'admin');
    expect(answer.status).toBe(201);
    const { id, token, url, expiresAt, ...rest } = answer.body;
    // This instance does not send mail.
    expect(rest).toEqual({
      email,
      role: 'admin',
      mailed: false,
      mailLimited: false,
      replaced: false,
      invalidBecause: null,
    });
    expect(token).toMatch(/^[\w-]{22}$/);
    expect(url).toBe(`${idctl.baseUrl}/login?invitation=${token}`);
    const days = (Date.parse(expiresAt) - idctl.app.clock().getTime()) / 86_400_000;
    expect(days).toBeCloseTo(7, 1);
    const list = await owner.get(`/api/v1/orgs/${org.slug}/invitations`);
    expect(list.body.items).toEqual([
      { id, email, role: 'admin', expiresAt, invalidBecause: null },
    ]);
    expect(JSON.stringify(await Invitation.findAll())).not.toContain(token);
    const client = await somebody(email);
    const accepted = await accept(client, token);
    expect(accepted).toMatchObject({
      status: 200,
      body: { organization: { slug: org.slug }, role: 'admin' },
    });
    const members = await owner.get(`/api/v1/orgs/${org.slug}/members`);
    const member = members.body.items.find((each: { email: string }) => each.email === email);
    expect(member).toMatchObject({
      role: 'admin',
      origin: { kind: 'invitation', by: org.owner.id },
    });
    expect((await owner.get(`/api/v1/orgs/${org.slug}/invitations`)).body.items).toEqual([]);
    const events = await Event.findAll({ where: { organizationId: org.id }, order: ['id'] });
    const told = events.filter(({ kind }) => kind.startsWith('invitation.'));
    expect(told).toMatchObject([
      { kind: 'invitation.created', actor: { id: org.owner.id }, subject: { id, name: email } },
      { kind: 'invitation.accepted', subject: { id }, data: { role: 'admin' } },
    ]);
  });

  test('O6 an invitation without a role makes a member', async () => {
    const { org, owner } = await company();
    const answer = await owner.post(`/api/v1/orgs/${org.slug}/invitations`, { email: address() });
    expect(answer).toMatchObject({ status: 201, body: { role: 'member', mailed: false } });
  });

  test('O6 only a person signed in with the invited address can accept an invitation', async () => {
    const { invite } = await company();
    const { body } = await invite(address());
    const other = await somebody();
    expect(await accept(other, body.token)).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect((await accept(idctl.client(), body.token)).status).toBe(401);
    expect(await accept(other, 'no such token')).toMatchObject({
      status: 404,
      body: { code: 'invitation_invalid' },
    });
  });

  test('O6 I5 an invitation takes effect once, even if requests accept it in parallel; a removed person needs a new one', async () => {
    const { org, invite, operator } = await company();
    const email = address();
    const client = await somebody(email);
    const { body } = await invite(email);
    const answers = await Promise.all(Array.from({ length: 4 }, () => accept(client, body.token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(
      await Event.count({ where: { kind: 'invitation.accepted', organizationId: org.id } }),
    ).toBe(1);
    await removeMember(operator, { org: org.slug, user: email });
    expect(await accept(client, body.token)).toMatchObject({
      status: 404,
      body: { code: 'invitation_invalid' },
    });
    // Accepting a new invitation lifts the tombstone (security I5).
    const again = await invite(email);
    expect((await accept(client, again.body.token)).status).toBe(200);
  });

  test('O6 an invitation is invalid after seven days, once revoked, or once another was made for the address', async () => {
    const { org, owner, invite } = await company();
    const [late, revoked, replaced] = [address(), address(), address()];
    const clients = await Promise.all([late, revoked, replaced].map((email) => somebody(email)));
    const made = [await invite(late), await invite(revoked), await invite(replaced)];
    const path = `/api/v1/orgs/${org.slug}/invitations`;
    expect((await owner.send('DELETE', `${path}/${made[1]?.body.id}`)).status).toBe(204);
    expect((await owner.send('DELETE', `${path}/${made[1]?.body.id}`)).status).toBe(404);
    const [second] = await Promise.all([invite(replaced), invite(replaced), invite(replaced)]);
    const waiting = (await owner.get(path)).body.items;
    expect(waiting.map(({ email }: { email: string }) => email)).toEqual([late, replaced]);
    idctl.wait(7 * 86_400 + 1);
    for (const [at, client] of clients.entries()) {
      const back = await signedIn(idctl, [late, revoked, replaced][at] ?? '');
      expect((await accept(back, made[at]?.body.token)).status).toBe(404);
      expect((await accept(client, second?.body.token)).status).toBe(401);
    }
    idctl.wait(-7 * 86_400 - 1);
  });

  test('O6 an inviter cannot give a role above their own, even if their role changes before the invitation is accepted', async () => {
    const { org, operator } = await company();
    const admin = await person(idctl);
    await addMember(operator, { org: org.slug, email: admin.email ?? '', role: 'admin' });
    const client = await signedIn(idctl, admin.email);
    const invite = (email: string, role: string) =>
      client.post(`/api/v1/orgs/${org.slug}/invitations`, { email, role });
    expect(await invite(address(), 'owner')).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    const email = address();
    const { body } = await invite(email, 'admin');
    await changeMemberRole(operator, { org: org.slug, user: admin.id, role: 'member' });
    const invited = await somebody(email);
    expect((await accept(invited, body.token)).status).toBe(404);
    await changeMemberRole(operator, { org: org.slug, user: admin.id, role: 'admin' });
    expect((await accept(invited, body.token)).status).toBe(200);
  });

  test('O6 a member cannot be invited, and an organization can invite at most fifty people a day', async () => {
    const { org, invite, operator } = await company();
    expect(await invite(org.owner.email ?? '')).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    });
    for (let count = 0; count < 50; count += 1) {
      await createInvitation(operator, { org: org.slug, email: address(), role: 'member' });
    }
    expect(await invite(address())).toMatchObject({
      status: 429,
      body: { code: 'too_many_requests' },
    });
    idctl.wait(86_401);
    await createInvitation(idctl.operator(), { org: org.slug, email: address(), role: 'member' });
    idctl.wait(-86_401);
  });

  test('interface page: an invitation lets its address sign up although sign-up is closed, and makes the person a member', async () => {
    const { org, invite } = await company();
    const email = address();
    const { body } = await invite(email);
    const signUp = (more: object) =>
      idctl.client().post('/api/v1/auth/signup', signUpBody(email, more));
    const other = signUpBody(address(), { invitation: body.token });
    expect(await signUp({})).toMatchObject({ status: 403, body: { code: 'signup_closed' } });
    expect((await idctl.client().post('/api/v1/auth/signup', other)).status).toBe(403);
    const answer = await signUp({ invitation: body.token });
    expect(answer).toMatchObject({ status: 201, body: { emailVerification: 'done' } });
    const client = await signedIn(idctl, email);
    expect((await client.get('/api/v1/me')).body.organizations).toMatchObject([{ slug: org.slug }]);
    // The same person can accept the invitation again, and gets the same answer.
    expect((await accept(client, body.token)).status).toBe(200);
  });

  test('O1 an invitation of another organization does not create an account on a verified domain; its own does', async () => {
    const [owner, stranger] = [await company(), await company()];
    const email = `${fresh('ina')}@${await verifiedDomain(idctl, owner.org.slug)}`;
    const signUp = (invitation: string) =>
      idctl.client().post('/api/v1/auth/signup', signUpBody(email, { invitation }));
    expect(await signUp((await stranger.invite(email)).body.token)).toMatchObject({
      body: { code: 'signup_closed' },
    });
    expect((await signUp((await owner.invite(email)).body.token)).status).toBe(201);
  });
});

describe('O6 invitations on an instance that sends mail', () => {
  test('O6 an invitation is mailed with its `url` as the link; sign-up still needs a code, which makes the person a member', async () => {
    const idctl = await openMailingIdctl();
    try {
      const { slug: org, id: organizationId } = await organization(idctl);
      const email = address();
      const made = await createInvitation(idctl.operator(), { org, email, role: 'member' });
      const [letter] = await idctl.lettersTo(email);
      expect([letter?.text, letter?.html]).toEqual(
        Array(2).fill(expect.stringContaining(made.url)),
      );
      const body = signUpBody(email, { invitation: made.token });
      const client = idctl.client({ keepCookies: true });
      expect((await client.post('/api/v1/auth/signup', body)).body).toEqual({
        emailVerification: 'required',
      });
      const code = await idctl.codeFor(email);
      const answer = await client.post('/api/v1/auth/verify-email', { email, code });
      const headers = { authorization: `Bearer ${answer.body.accessToken}` };
      expect((await client.get('/api/v1/me', headers)).body.organizations).toMatchObject([
        { slug: org },
      ]);

      expect([made.mailed, letter?.text]).toEqual([
        true,
        expect.stringMatching(/^You are invited to join/),
      ]);

      const { name, owner } = await organization(idctl);
      const admin = await signedIn(idctl, owner.email);
      await admin.send('PATCH', '/api/v1/me', { body: { name: 'Olga at evil.test/x' } });
      const guest = address();
      const { slug } = (await admin.get('/api/v1/me')).body.organizations[0];
      const sent = await admin.post(`/api/v1/orgs/${slug}/invitations`, { email: guest });
      const [named] = await idctl.lettersTo(guest);
      const said = `Olga at evil test x invites you to join ${name} on idctl as a member.`;
      expect([sent.body.mailed, named?.text.split('\r\n')[0]]).toEqual([true, said]);
      const page = await idctl.client().get(sent.body.url.slice(idctl.baseUrl.length));
      expect(String(page.body).replace(/<[^>]*>/g, '')).toContain(
        `Olga at evil.test/x invites you as a member, with the address ${guest}`,
      );

      idctl.smtp.refuse(550);
      const lost = await createInvitation(idctl.operator(), {
        org,
        email: address(),
        role: 'member',
      });
      await idctl.deliver();
      const given = await Event.findAll({ where: { kind: 'mail.abandoned', organizationId } });
      expect(given).toMatchObject([{ data: { about: 'invitation', invitation: lost.id } }]);

      const unproved = address();
      await person(idctl, unproved);
      const session = await signedIn(idctl, unproved);
      const { token } = await createInvitation(idctl.operator(), {
        org,
        email: unproved,
        role: 'member',
      });
      await transaction(() =>
        Account.update({ emailProof: 'none' }, { where: { email: unproved } }),
      );
      const refused = await session.post('/api/v1/invitations/accept', { token });
      expect(refused).toMatchObject({ status: 403, body: { code: 'email_unverified' } });
    } finally {
      await idctl.close();
    }
  });

  test('O6 an invitation is not mailed if its inviter is disabled by then', async () => {
    const idctl = await openMailingIdctl();
    try {
      const { slug, owner } = await organization(idctl);
      const email = address();
      const inviter = await signedIn(idctl, owner.email);
      await inviter.post(`/api/v1/orgs/${slug}/invitations`, { email });
      await disableUser(idctl.operator(), { user: owner.id });
      expect(await idctl.lettersTo(email)).toEqual([]);
    } finally {
      await idctl.close();
    }
  });

  test('O6 an address gets at most five invitation mails a day, two from one organization; an organization learns only of its own limit', async () => {
    const idctl = await openMailingIdctl();
    try {
      const orgs = [
        await organization(idctl),
        await organization(idctl),
        await organization(idctl),
      ];
      const email = address();
      const invite = async (at: number) => {
        const org = orgs[at]?.slug ?? '';
        const { url } = await createInvitation(idctl.operator(), { org, email, role: 'member' });
        const letters = await idctl.lettersTo(email);
        return { url, count: letters.length, linked: letters.at(-1)?.text.includes(url) };
      };
      await verifiedDomain(idctl, orgs[1]?.slug ?? '');
      await verifiedDomain(idctl, orgs[2]?.slug ?? '');
      for (const [sent, at] of [0, 0, 1, 1, 2].entries()) {
        expect(await invite(at)).toMatchObject({ count: sent + 1, linked: true });
      }
      const { url, count } = await invite(2);
      expect([count, (await invite(0)).count]).toEqual([5, 5]);
      const events = await Event.findAll({ where: { kind: 'invitation.created' }, order: ['id'] });
      expect(events.map(({ data }) => data['mailed'])).toEqual([...Array(6).fill(true), false]);
      const page = await idctl
        .client()
        .get(url.slice(idctl.baseUrl.length), { accept: 'text/html' });
      expect(page.body).toContain(`Join ${orgs[2]?.name}`);
    } finally {
      await idctl.close();
    }
  });

  test('O6 two of the five mails are kept for organizations with a verified domain, one each; all tags of an address share the limit', async () => {
    const idctl = await openMailingIdctl();
    try {
      const hostile = [
        await organization(idctl),
        await organization(idctl),
        await organization(idctl),
      ];
      const [own, another] = [await organization(idctl), await organization(idctl)];
      for (const { slug } of [own, another]) await verifiedDomain(idctl, slug);
      const tag = fresh('ada');
      const invite = async ({ slug: org }: typeof own, email: string) => {
        const { url } = await createInvitation(idctl.operator(), { org, email, role: 'member' });
        const letters = await idctl.lettersTo(email);
        return letters.some(({ text }) => text.includes(url));
      };
      const mailed: boolean[] = [];
      for (const [at, org] of [...hostile, ...hostile].entries()) {
        mailed.push(await invite(org, `${tag}+${at}@example.test`));
      }
      expect(mailed).toEqual([true, true, true, false, false, false]);
      expect(await invite(own, `${tag}@example.test`)).toBe(true);
      expect(await invite(own, `${tag}+own@example.test`)).toBe(false);
      expect(await invite(another, `${tag}@example.test`)).toBe(true);
      expect(await invite(another, `${tag}+x@example.test`)).toBe(false);
      idctl.wait(86_401);
      expect(await invite(hostile[0] ?? own, `${tag}@example.test`)).toBe(true);
    } finally {
      await idctl.close();
    }
  });

  test('O6 an organization that makes and revokes invitations does not use up the mails of another', async () => {
    const idctl = await openMailingIdctl();
    try {
      const [hostile, own] = [await organization(idctl), await organization(idctl)];
      const email = address();
      const invite = ({ slug: org }: typeof own) =>
        createInvitation(idctl.operator(), { org, email, role: 'member' });
      for (let count = 0; count < 5; count += 1) {
        await revokeInvitation(idctl.operator(), { id: (await invite(hostile)).id });
      }
      expect(await idctl.lettersTo(email)).toEqual([]);
      const { url } = await invite(own);
      expect((await idctl.lettersTo(email)).map(({ text }) => text)).toEqual([
        expect.stringContaining(url),
      ]);
    } finally {
      await idctl.close();
    }
  });
});
