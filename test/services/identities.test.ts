import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { Identity } from '../../src/database/models/identity.ts';
import { Session } from '../../src/database/models/session.ts';
import { SsoConnection } from '../../src/database/models/sso-connection.ts';
import { transaction } from '../../src/database/transaction.ts';
import { beginSession } from '../../src/services/signin/begin.ts';
import {
  listIdentities,
  unlinkIdentities,
} from '../../src/services/tenancy/identities/operations.ts';
import { relinkSso } from '../../src/services/tenancy/sso/relink.ts';
import { fresh, person } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { connected } from '../support/sso.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const issuer = 'https://idp.test';

/** An organization's connection, and a way to link accounts to it. */
async function connection() {
  const { org } = await connected(idctl, issuer);
  const { id } = await SsoConnection.findOne({
    where: { organizationId: org.id },
    rejectOnEmpty: true,
  });
  const key = () => ({ issuer, subject: fresh('s'), linkedAt: new Date() });
  const row = (accountId: string) => ({
    ...{
      id: orderedId(),
      accountId,
      kind: 'sso' as const,
      connectionId: id,
      organizationId: org.id,
    },
    ...key(),
  });
  const link = (accountId: string) => transaction(() => Identity.create(row(accountId)));
  return { id, org, row, link };
}

/** An account linked to two connections, with a session through each and one by password. */
async function linkedTwice() {
  const [one, two] = [await connection(), await connection()];
  const { id, email } = await person(idctl);
  const account = await Account.findByPk(id, { rejectOnEmpty: true });
  const begin = (via: Parameters<typeof beginSession>[2]) =>
    transaction(() => beginSession(idctl.operator(), account, via));
  const keys = [await one.link(id), await two.link(id)] as const;
  await begin({ method: 'password' });
  for (const { id: connectionId, org } of [one, two])
    await begin({ method: 'sso', connection: { id: connectionId, organizationId: org.id } });
  const live = async () => {
    const sessions = await Session.findAll({
      where: { accountId: id, endedAt: null },
      order: ['id'],
    });
    return sessions.map(({ connectionId }) => connectionId);
  };
  return { id, email, one, two, keys, live };
}

test('interface page: the identities of an account, given by address or id, are listed in pages', async () => {
  const { id, email, one, keys } = await linkedTwice();
  const first = await listIdentities(idctl.operator(), { user: email ?? '', limit: 1 });
  expect(first).toEqual({
    items: [
      {
        id: keys[0].id,
        kind: 'sso',
        connection: one.id,
        issuer,
        subject: keys[0].subject,
        linkedAt: keys[0].linkedAt.toISOString(),
      },
    ],
    nextCursor: keys[0].id,
  });
  const rest = await listIdentities(idctl.operator(), { user: id, limit: 50, cursor: keys[0].id });
  expect(rest).toMatchObject({ items: [{ id: keys[1].id }], nextCursor: null });
});

test('I1 unlinking one identity by its id ends only the sessions of its connection', async () => {
  const { id, email, two, keys, live } = await linkedTwice();
  expect(await unlinkIdentities(idctl.operator(), { id: keys[0].id })).toMatchObject({
    email,
    identities: [{ id: keys[0].id }],
    sessionsEnded: 1,
  });
  expect(await live()).toEqual([null, two.id]);
  expect(await Identity.findAll({ where: { accountId: id } })).toMatchObject([{ id: keys[1].id }]);
});

test('I1 unlinking all identities of an account ends the sessions of their connections; its other session stays', async () => {
  const { id, one, two, live } = await linkedTwice();
  const answer = await unlinkIdentities(idctl.operator(), { user: id });
  expect(answer).toMatchObject({ identities: [{ connection: one.id }, { connection: two.id }] });
  expect(answer.sessionsEnded).toBe(2);
  expect(await live()).toEqual([null]);
  const events = await Event.findAll({ where: { kind: 'identity.unlinked' }, order: ['id'] });
  const own = events.filter(({ subject }) => subject?.id === id);
  expect(own.map(({ organizationId }) => organizationId)).toEqual([one.org.id, two.org.id]);
});

test('an unknown identity, or one of another account, is not unlinked', async () => {
  const { keys } = await linkedTwice();
  const other = await person(idctl);
  const missing = { code: 'not_found' };
  for (const input of [
    { id: keys[0].id, user: other.id },
    { id: orderedId() },
    { user: other.id },
  ]) {
    await expect(unlinkIdentities(idctl.operator(), input)).rejects.toMatchObject(missing);
  }
  expect(await Identity.count({ where: { id: keys[0].id } })).toBe(1);
  expect(unlinkIdentities.input.safeParse({}).success).toBe(false);
});

test('I1 a relink covers every person, however many there are', async () => {
  const { org, row } = await connection();
  const people = Array.from({ length: 2100 }, () => ({
    id: orderedId(),
    email: `${fresh('p')}@many.test`,
    emailProof: 'domain' as const,
    name: 'P',
    createdAt: new Date(),
  }));
  await transaction(async () => {
    await Account.bulkCreate(people);
    await Identity.bulkCreate(people.map(({ id }) => row(id)));
  });
  const answer = await relinkSso(idctl.operator(), { org: org.slug, fromIssuer: issuer });
  expect(answer.people.toSorted()).toEqual(people.map(({ email }) => email).toSorted());
  expect(await Identity.count({ where: { organizationId: org.id } })).toBe(0);
});
