import { afterEach, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { transaction } from '../../src/database/transaction.ts';
import { settleRestored } from '../../src/services/instance/backup/settle.ts';
import { beginSession } from '../../src/services/signin/begin.ts';
import { explain } from '../../src/services/signin/explain/operations.ts';
import { removePasskey } from '../../src/services/signin/passkeys/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { findOwnersWithoutWay } from '../../src/services/tenancy/signin-settings/owners.ts';
import { organization, password, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import {
  addPasskey,
  answerTo,
  passkeySite as baseUrl,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';

// A person removed a passkey, perhaps because it was stolen. Then a backup from before is restored.

let idctl: Idctl;
afterEach(() => idctl?.close());

/** Does to this database what a restore does after it has written the backup. */
async function restored(keepTokens = false) {
  const keyId = idctl.app.keyring.keyId;
  const made = { createdAt: new Date().toISOString(), version: '0.1.0', migration: '0040' };
  const counts = { database: 'sqlite' as const, organizations: 1, accounts: 1 };
  return settleRestored(idctl.operator(), { header: { ...made, ...counts, keyId }, keepTokens });
}

const fresh = () => idctl.client({ keepCookies: true });

test('P16 a restored passkey does not sign in alone until its person has signed in another way', async () => {
  idctl = await openIdctl({ baseUrl });
  const { account, held } = await personWithPasskey(idctl);
  const { held: another } = await addPasskey(await signedInWith(account.email, held));
  expect((await restored()).suspended.passkeys).toBe(2);
  const refused = await signInByPasskey(fresh(), held);
  expect(refused).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  // As a second factor it still counts, and is still required.
  const half = fresh();
  const asked = await half.post('/api/v1/auth/login', { email: account.email, password });
  expect(asked.body.code).toBe('second_factor_required');
  expect((await signInByPasskey(fresh(), held)).status).toBe(401);
  const passkey = answerTo(asked, held);
  const whole = await half.post('/api/v1/auth/login', { email: account.email, password, passkey });
  expect(whole.status).toBe(200);
  const { items } = (await half.get('/api/v1/me/passkeys')).body;
  expect(items).toHaveLength(2);
  expect(JSON.stringify(items)).not.toContain('suspendedAt');
  for (const one of [held, another]) expect((await signInByPasskey(fresh(), one)).status).toBe(200);
});

/** A browser of a person whose second factor is the passkey. */
async function signedInWith(email: string | null, held: Parameters<typeof answerTo>[1]) {
  const browser = fresh();
  const asked = await browser.post('/api/v1/auth/login', { email, password });
  const passkey = answerTo(asked, held);
  const given = { email, password, passkey };
  expect((await browser.post('/api/v1/auth/login', given)).status).toBe(200);
  return browser;
}

test('P16 a restored passkey that its person removes after signing in another way stays removed', async () => {
  idctl = await openIdctl({ baseUrl });
  const { account, held, passkey } = await personWithPasskey(idctl);
  await restored();
  await signedInWith(account.email, held);
  await removePasskey.forOperator(idctl.operator(), { user: account.id, id: passkey });
  expect((await signInByPasskey(fresh(), held)).status).toBe(401);
});

test('P16 another person’s sign-in leaves a restored passkey suspended, and one made after the restore signs in', async () => {
  idctl = await openIdctl({ baseUrl });
  const { account, held } = await personWithPasskey(idctl);
  await restored();
  const other = await personWithPasskey(idctl);
  expect((await signInByPasskey(fresh(), other.held)).status).toBe(200);
  await signedIn(idctl, (await organization(idctl)).owner.email);
  expect((await signInByPasskey(fresh(), held)).status).toBe(401);
  expect((await Account.findByPk(account.id))?.hasPasskey).toBe(true);
});

test('P16 I8 a sign-in through a connection that waits for approval leaves a restored passkey suspended', async () => {
  idctl = await openIdctl({ baseUrl });
  const {
    account: { id },
    held,
  } = await personWithPasskey(idctl);
  await restored();
  const ctx = idctl.as({ kind: 'anonymous' });
  const account = await Account.findByPk(id, { rejectOnEmpty: true });
  const enter = (unapproved: boolean) =>
    transaction(() => beginSession(ctx, account, { method: 'sso', unapproved }));
  expect(await enter(true)).toHaveProperty('session');
  expect((await signInByPasskey(fresh(), held)).status).toBe(401);
  expect(await enter(false)).toHaveProperty('session');
  expect((await signInByPasskey(fresh(), held)).status).toBe(200);
});

test('P16 I8 a password from a session through such a connection leaves a restored passkey suspended', async () => {
  idctl = await openIdctl({ baseUrl });
  const {
    account: { id, email },
    held,
  } = await personWithPasskey(idctl);
  await restored();
  const mark = (passwordUnapproved: boolean) =>
    transaction(() => Account.update({ passwordUnapproved }, { where: { id } }));
  await mark(true);
  await signedInWith(email, held);
  expect((await signInByPasskey(fresh(), held)).status).toBe(401);
  await mark(false);
  await signedInWith(email, held);
  expect((await signInByPasskey(fresh(), held)).status).toBe(200);
});

test('P16 with --keep-tokens, passkeys sign in after a restore', async () => {
  idctl = await openIdctl({ baseUrl });
  const { held } = await personWithPasskey(idctl);
  expect((await restored(true)).suspended.passkeys).toBe(0);
  expect((await signInByPasskey(fresh(), held)).status).toBe(200);
});

test('P16 after a restore, explain and doctor do not count a suspended passkey as a way in', async () => {
  idctl = await openIdctl({ baseUrl });
  const { account, held } = await personWithPasskey(idctl);
  const org = await organization(idctl);
  await addMember(idctl.operator(), { org: org.slug, email: account.email ?? '', role: 'owner' });
  expect((await signInByPasskey(fresh(), held)).status).toBe(200);
  await transaction(() => Account.update({ passwordHash: null }, { where: { id: account.id } }));
  const stuck = async () => {
    const within = { first: org.id, last: org.id, max: 4 };
    const { stuck: some } = (await findOwnersWithoutWay(idctl.operator(), within))(org.id);
    const input = explain.input.parse({ org: org.slug, user: account.email ?? '' });
    const { ways } = await explain(idctl.operator(), input);
    const way = ways.find(({ method }) => method === 'passkey');
    return [some.map(({ ref }) => ref), way?.could];
  };
  expect(await stuck()).toEqual([[], true]);
  await restored();
  expect(await stuck()).toEqual([[account.email], false]);
});

test('P17 after a restore, recovery codes are gone, and people with only a passkey are named', async () => {
  idctl = await openIdctl({ baseUrl });
  const [stuck, other] = [await personWithPasskey(idctl), await personWithPasskey(idctl)];
  await transaction(() =>
    Account.update({ passwordHash: null }, { where: { id: stuck.account.id } }),
  );
  const { ended, shutOut } = await restored();
  expect([ended.recoveryCodes, shutOut]).toEqual([20, [stuck.account.email]]);
  const given = { email: other.account.email, password };
  expect((await fresh().post('/api/v1/auth/login', given)).body.methods).toEqual(['passkey']);
  const third = await personWithPasskey(idctl);
  expect(await restored(true)).toMatchObject({ ended: { recoveryCodes: 0 }, shutOut: [] });
  const asked = await fresh().post('/api/v1/auth/login', { email: third.account.email, password });
  expect(asked.body.methods).toEqual(['passkey', 'recovery']);
});
