import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Membership } from '../../src/database/models/membership.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { fresh, organization, password, person, signedIn } from '../support/builders.ts';
import { apply } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { openMailingIdctl } from '../support/mail.ts';
import { scimClient } from '../support/scim-client.ts';
import { tokenOf } from '../support/tokens.ts';
import { enrolOwn } from '../support/two-factor.ts';

// SCIM may add a person on a domain that the organization has not verified. Only the person's own
// consent, by an invitation, makes this a membership that counts (security O8).

/** An organization whose SCIM client has pushed an address, and the ways to invite and accept. */
async function pushing(idctl: Idctl, email = `${fresh('guest')}@elsewhere.test`) {
  const scim = await scimClient(idctl);
  const owner = await signedIn(idctl, scim.org.owner.email);
  const record = await scim.create({ userName: email, displayName: 'Pushed Name' });
  const account = await Account.findOne({ where: { email }, rejectOnEmpty: true });
  const { id: organizationId, slug: org } = scim.org;
  return {
    scim,
    org,
    organizationId,
    owner,
    email,
    user: account.id,
    recordPath: `/Users/${record.id}`,
    recordId: String(record.id),
    invite: (role = 'member') => owner.post(`/api/v1/orgs/${org}/invitations`, { email, role }),
    membership: () => Membership.findOne({ where: { organizationId, accountId: account.id } }),
  };
}

const accept = (client: Client, token: string) =>
  client.post('/api/v1/invitations/accept', { token });

describe('O8 a person that SCIM pushed on a foreign domain can be invited', () => {
  let idctl: Idctl;
  beforeAll(async () => {
    idctl = await openIdctl();
  });
  afterAll(() => idctl.close());

  /** A person with an account, whom an organization pushes. */
  async function pushedPerson() {
    const { email } = await person(idctl);
    const at = await pushing(idctl, email ?? '');
    return { ...at, client: await signedIn(idctl, email) };
  }

  test('O8 a pushed person who accepts an invitation joins like any other, and the SCIM record stays linked', async () => {
    const at = await pushedPerson();
    expect((await at.membership())?.origin).toEqual({ kind: 'scim' });
    const invited = await at.invite('admin');
    expect(invited.status).toBe(201);
    expect(await accept(at.client, invited.body.token)).toMatchObject({
      status: 200,
      body: { organization: { slug: at.org }, role: 'admin' },
    });
    expect(await at.membership()).toMatchObject({
      role: 'admin',
      origin: { kind: 'invitation', by: at.scim.org.owner.id },
      synced: false,
    });
    const where = { organizationId: at.organizationId };
    const events = await Event.findAll({ where, order: ['id'] });
    expect(events.slice(-2)).toMatchObject([
      { kind: 'member.added', data: { role: 'admin', origin: 'invitation' } },
      { kind: 'invitation.accepted', data: { role: 'admin', account: at.user } },
    ]);
    // Accepting again changes nothing, and the person is now refused like every member.
    expect((await accept(at.client, invited.body.token)).status).toBe(200);
    expect(await at.invite()).toMatchObject({ status: 409, body: { code: 'already_exists' } });

    expect((await at.scim.get(at.recordPath)).body).toMatchObject({
      active: true,
      userName: at.email,
      displayName: 'Pushed Name',
    });
    const twice = await at.scim.send('POST', '/Users', { userName: at.email });
    expect(twice.status).toBe(409);
    const renamed = { op: 'replace', path: 'displayName', value: 'Other Name' };
    expect((await at.scim.patch(at.recordId, renamed)).status).toBe(200);
    expect((await at.membership())?.role).toBe('admin');
    const off = { op: 'replace', path: 'active', value: false };
    expect((await at.scim.patch(at.recordId, off)).status).toBe(200);
    expect(await at.membership()).toBeNull();
    expect((await accept(at.client, invited.body.token)).status).toBe(404);
  });

  test('O8 SCIM DELETE ends the membership of a pushed person who has accepted an invitation', async () => {
    const at = await pushedPerson();
    const { body } = await at.invite();
    expect((await accept(at.client, body.token)).status).toBe(200);
    expect((await at.scim.send('DELETE', at.recordPath)).status).toBe(204);
    expect(await at.membership()).toBeNull();
  });

  test('O8 I5 an invitation from before SCIM deactivated a pushed person is invalid; a later one adds the person', async () => {
    const at = await pushedPerson();
    const { body } = await at.invite();
    const off = { op: 'replace', path: 'active', value: false };
    expect((await at.scim.patch(at.recordId, off)).status).toBe(200);
    expect(await accept(at.client, body.token)).toMatchObject({
      status: 404,
      body: { code: 'invitation_invalid' },
    });
    expect(await at.membership()).toBeNull();
    const later = await at.invite();
    expect((await accept(at.client, later.body.token)).status).toBe(200);
    expect((await at.scim.get(at.recordPath)).body).toMatchObject({ active: true });
  });

  test('O8 O3 an invitation never takes the owner role from a pushed owner', async () => {
    const at = await pushedPerson();
    const operator = idctl.operator();
    await changeMemberRole(operator, { org: at.org, user: at.user, role: 'owner' });
    const { body } = await at.invite('member');
    // The pushed person is the last owner when they accept.
    const former = at.scim.org.owner.id;
    await changeMemberRole(operator, { org: at.org, user: former, role: 'admin' });
    expect(await accept(at.client, body.token)).toMatchObject({
      status: 200,
      body: { role: 'owner' },
    });
    expect(await at.membership()).toMatchObject({ role: 'owner', origin: { kind: 'invitation' } });
  });

  const uninvited = { status: 409, body: { code: 'invite_instead' } };

  test('O8 nobody but the operator makes a pushed person an owner without an invitation', async () => {
    const at = await pushedPerson();
    const path = `/api/v1/orgs/${at.org}/members/${at.user}`;
    const change = (role: string) => at.owner.send('PATCH', path, { body: { role } });
    const refused = await change('owner');
    expect(refused).toMatchObject(uninvited);
    expect(refused.body).toMatchObject({
      hint: `Invite the person instead: POST /api/v1/orgs/${at.org}/invitations {"role":"owner"}`,
      next: [{ operation: 'invitation.create', with: { org: at.org, role: 'owner' } }],
    });
    expect((await change('admin')).status).toBe(200);
    expect(await change('owner')).toMatchObject(uninvited);
    expect((await at.membership())?.role).toBe('admin');
    const { body } = await at.invite('owner');
    expect((await accept(at.client, body.token)).status).toBe(200);
    expect((await at.membership())?.role).toBe('owner');
    // The person has joined, so that owners change the role as they change every other.
    expect((await change('member')).status).toBe(200);
    expect((await change('owner')).status).toBe(200);

    const other = await pushedPerson();
    const { role } = await changeMemberRole(idctl.operator(), {
      org: other.org,
      user: other.user,
      role: 'owner',
    });
    expect(role).toBe('owner');
  });

  test('O8 a document does not make a pushed person an owner, except the operator’s', async () => {
    const at = await pushedPerson();
    const document = { idctl: 1, members: [{ email: at.email, role: 'owner' }] };
    const planned = await at.owner.post(`/api/v1/orgs/${at.org}/plan`, { document });
    expect(planned.body).toMatchObject({
      changes: [],
      blocked: [{ section: 'members', key: at.email, code: 'invite_instead' }],
    });
    expect(planned.body.blocked[0]).toMatchObject({
      hint: expect.stringContaining(`POST /api/v1/orgs/${at.org}/invitations {"email":`),
      next: [{ operation: 'invitation.create', with: { email: at.email, role: 'owner' } }],
    });
    const { digest } = planned.body;
    const applied = await at.owner.post(`/api/v1/orgs/${at.org}/apply`, { document, digest });
    expect(applied.status).toBe(200);
    expect((await at.membership())?.role).toBe('member');
    await apply(idctl.operator(), at.org, document);
    expect((await at.membership())?.role).toBe('owner');
  });

  test('O8 the answer to an invitation of a pushed person is the same with and without an earlier account', async () => {
    const answers = [];
    for (const at of [await pushedPerson(), await pushing(idctl)]) {
      const { status, body } = await at.invite();
      const { id: _, token: __, url: ___, email: ____, expiresAt: _____, ...rest } = body;
      answers.push({ status, fields: Object.keys(body), rest });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.status).toBe(201);
  });

  test('O8 P12 when a pushed person accepts, the tokens and sessions that only another organization’s provider proved end', async () => {
    const at = await pushedPerson();
    const other = await organization(idctl);
    await enrolOwn(idctl, { email: at.email });
    const { use, id } = await tokenOf(idctl, { user: at.user });
    const account = await Account.findByPk(at.user, { rejectOnEmpty: true });
    const begin = async () => {
      const begun = transaction(() =>
        beginSession(idctl.operator(), account, { method: 'loginLink' }),
      );
      const { accessToken } = requireSession(await begun);
      return idctl.client({ headers: { authorization: `Bearer ${accessToken}` } });
    };
    const by = { vouchedBy: other.id };
    const provided = await begin();
    const [newest] = await Session.findAll({
      where: { accountId: at.user },
      order: [['id', 'DESC']],
      limit: 1,
    });
    await transaction(() => Session.update(by, { where: { id: newest?.id ?? '' } }));
    await transaction(() => AccessToken.update(by, { where: { id } }));
    const own = await begin();
    const { body } = await at.invite();
    const seen = async () => [(await provided.get('/api/v1/me')).status, (await use()).status];
    expect(await seen()).toEqual([200, 200]);
    expect((await accept(own, body.token)).status).toBe(200);
    expect(await seen()).toEqual([401, 401]);
    expect((await own.get('/api/v1/me')).status).toBe(200);
  });
});

describe('O8 pushed people without credentials', () => {
  test('O8 a person without credentials that SCIM pushed signs up with an invitation and joins', async () => {
    const idctl = await openMailingIdctl();
    try {
      const at = await pushing(idctl);
      const { body } = await at.invite('admin');
      const client = idctl.client({ keepCookies: true });
      const given = { email: at.email, password, name: 'Ina', invitation: body.token };
      expect((await client.post('/api/v1/auth/signup', given)).status).toBe(201);
      expect((await at.membership())?.origin).toEqual({ kind: 'scim' });
      const code = await idctl.codeFor(at.email);
      const { email } = at;
      expect((await client.post('/api/v1/auth/verify-email', { email, code })).status).toBe(200);
      expect(await at.membership()).toMatchObject({
        role: 'admin',
        origin: { kind: 'invitation', by: at.scim.org.owner.id },
      });
    } finally {
      await idctl.close();
    }
  });
});
