import { describe, expect, test } from 'vitest';
import { orderedId } from '../../src/crypto/id.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { Account } from '../../src/database/models/account.ts';
import { OAuthApp } from '../../src/database/models/app.ts';
import { Passkey } from '../../src/database/models/passkey.ts';
import { transaction } from '../../src/database/transaction.ts';
import type { SecondFactor } from '../../src/services/people/two-factor/second-factor.ts';
import { beginSession, requireSession } from '../../src/services/signin/begin.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, person } from '../support/builders.ts';
import { apply } from '../support/documents.ts';
import type { Client } from '../support/http.ts';
import type { Idctl } from '../support/idctl.ts';
import { openInstance } from '../support/instance.ts';
import {
  addPasskey,
  answerTo,
  passkeySite as baseUrl,
  personWithPasskey,
  signInByPasskey,
} from '../support/passkeys.ts';
import { enrol, enrolled } from '../support/two-factor.ts';

// Credentials made in a provider's session are marked with its organization (`vouchedBy`). They
// must not let the provider into another organization later.

const browserOf = (idctl: Idctl) => idctl.client({ keepCookies: true });

/** Begins a session through an organization's provider, and returns its browser. */
async function byProvider(
  idctl: Idctl,
  id: string,
  organizationId: string,
  answered: { secondFactor?: SecondFactor } = {},
): Promise<Client> {
  const account = await Account.findByPk(id, { rejectOnEmpty: true });
  const via = { method: 'sso' as const, connection: { id: orderedId(), organizationId } };
  const { accessToken } = await transaction(async () =>
    requireSession(await beginSession(idctl.operator(), account, { ...via, ...answered })),
  );
  const client = browserOf(idctl);
  client.jar.set('access_token', accessToken);
  return client;
}

/** Makes a token and an app, and returns the `vouchedBy` of both. */
async function vouchers(client: Client) {
  const token = await client.post('/api/v1/me/tokens', { name: orderedId() });
  const app = await client.post('/api/v1/me/apps', { name: orderedId() });
  expect([token.status, app.status]).toEqual([201, 201]);
  const rows = [
    await AccessToken.findByPk(String(token.body.id)),
    await OAuthApp.findByPk(String(app.body.id)),
  ];
  return rows.map((row) => row?.vouchedBy);
}

describe('P12 the mark of a session that a provider began', () => {
  test('P12 stays after a sign-in or a confirmation with a passkey that was added in such a session', async () => {
    const idctl = await openInstance({ baseUrl });
    const [one, two] = [await organization(idctl), await organization(idctl)];
    const { id, email } = await person(idctl);
    await addMember(idctl.operator(), { org: one.slug, email: email ?? '', role: 'member' });
    const entered = await byProvider(idctl, id, one.id);
    const { held } = await addPasskey(entered);
    const alone = browserOf(idctl);
    expect((await signInByPasskey(alone, held)).status).toBe(200);
    expect(await vouchers(alone)).toEqual([one.id, one.id]);
    expect((await addPasskey(alone)).answer.status).toBe(201);
    idctl.wait(11 * 60);
    const asked = await entered.post('/api/v1/me/passkeys/options');
    await entered.post('/api/v1/auth/confirm', { passkey: answerTo(asked, held) });
    expect(await vouchers(entered)).toEqual([one.id, one.id]);
    const made = await Passkey.findAll({ where: { accountId: id } });
    expect(made.map(({ vouchedBy }) => vouchedBy)).toEqual([one.id, one.id]);
    // If a person has their own second factor, all marked credentials are revoked when another
    // organization adds the person.
    await transaction(() =>
      Passkey.update({ vouchedBy: null }, { where: { id: made[1]?.id ?? '' } }),
    );
    await addMember(idctl.operator(), { org: two.slug, email: email ?? '', role: 'member' });
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect(await Passkey.count({ where: { accountId: id } })).toBe(1);
    for (const client of [alone, entered])
      expect((await client.get('/api/v1/me')).status).toBe(401);
  });

  test('P12 stays after an authenticator was enrolled in such a session', async () => {
    const idctl = await openInstance({ baseUrl });
    const [one, two] = [await organization(idctl), await organization(idctl)];
    const { id, email } = await person(idctl);
    const entered = await byProvider(idctl, id, one.id);
    const confirm = await enrol(idctl, entered);
    expect((await confirm()).status).toBe(204);
    expect(await vouchers(entered)).toEqual([one.id, one.id]);
    await addMember(idctl.operator(), { org: one.slug, email: email ?? '', role: 'member' });
    await addMember(idctl.operator(), { org: two.slug, email: email ?? '', role: 'member' });
    expect(await AccessToken.count({ where: { accountId: id } })).toBe(0);
    expect((await entered.get('/api/v1/me')).status).toBe(401);
  });

  test('P12 is on a later session of the provider too, if only such a passkey answered for the second factor', async () => {
    const idctl = await openInstance({ baseUrl });
    const one = await organization(idctl);
    const { id } = await person(idctl);
    const { answer } = await addPasskey(await byProvider(idctl, id, one.id));
    const passkeyId = String(answer.body.id);
    const secondFactor = { accountId: id, passkeyId };
    const marked = await byProvider(idctl, id, one.id, { secondFactor });
    expect(await vouchers(marked)).toEqual([one.id, one.id]);
    await transaction(() => Passkey.update({ vouchedBy: null }, { where: { id: passkeyId } }));
    const own = await byProvider(idctl, id, one.id, { secondFactor });
    expect(await vouchers(own)).toEqual([null, null]);
  });

  test("P12 stays until the person's own second factor confirms the session", async () => {
    const idctl = await openInstance({ baseUrl });
    const one = await organization(idctl);
    const { account, code } = await enrolled(idctl);
    const entered = await byProvider(idctl, account.id, one.id);
    expect(await vouchers(entered)).toEqual([one.id, one.id]);
    const answer = { totpCode: code() };
    expect((await entered.post('/api/v1/auth/confirm', answer)).status).toBe(204);
    expect(await vouchers(entered)).toEqual([null, null]);
  });
});
test('P12 a document that adds a person with a passkey revokes the tokens marked with another organization', async () => {
  const idctl = await openInstance({ baseUrl });
  const [one, two] = [await organization(idctl), await organization(idctl)];
  const { account, browser } = await personWithPasskey(idctl);
  expect((await browser.post('/api/v1/me/tokens', { name: 'ci' })).status).toBe(201);
  const where = { accountId: account.id };
  await transaction(() => AccessToken.update({ vouchedBy: one.id }, { where }));
  const members = [{ email: account.email, role: 'member' }];
  await apply(idctl.operator(), two.slug, { idctl: 1, members });
  expect(await AccessToken.count({ where })).toBe(0);
});
