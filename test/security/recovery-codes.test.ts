import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { InstanceKey } from '../../src/database/models/instance-key.ts';
import { RecoveryCode } from '../../src/database/models/recovery-code.ts';
import { Session } from '../../src/database/models/session.ts';
import { transaction } from '../../src/database/transaction.ts';
import { rotateMasterKey } from '../../src/services/foundation/keys/operations.ts';
import { isRecovering } from '../../src/services/people/codes/recovery-code.ts';
import { resetTotp } from '../../src/services/people/two-factor/operations.ts';
import { regenerateRecoveryCodes } from '../../src/services/people/two-factor/recovery-codes.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { authenticatorAt } from '../support/authenticator.ts';
import { organization, password, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { overtake } from '../support/overtake.ts';
import { addPasskey, passkeySite as baseUrl } from '../support/passkeys.ts';
import { codeOf } from '../support/two-factor.ts';

let idctl: Idctl;
beforeEach(async () => {
  idctl = await openIdctl({ baseUrl, tokens: { manageCredentials: 'on' } });
});
afterEach(() => idctl.close());

const browser = () => idctl.client({ keepCookies: true });
const invalid = { status: 401, body: { code: 'second_factor_invalid' } };
const needed = { status: 403, body: { code: 'recent_sign_in_required' } };

/** A person with an authenticator app, and the recovery codes that came with it. */
async function enrolled() {
  const account = await person(idctl);
  const client = await signedIn(idctl, account.email);
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const confirmed = await client.post('/api/v1/me/totp/confirm', { code: codeOf(idctl, secret) });
  idctl.wait(60);
  const codes = confirmed.body.recoveryCodes as string[];
  return { account, client, codes, totpCode: () => codeOf(idctl, secret) };
}

const login = (email: string | null, more: object = {}) =>
  browser().post('/api/v1/auth/login', { email, password, ...more });

describe('P17 recovery codes', () => {
  test('P17 come with the first second factor, ten of them, and only then', async () => {
    const { client, codes } = await enrolled();
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    expect((await addPasskey(client)).answer.body).not.toHaveProperty('recoveryCodes');
    const other = await signedIn(idctl, (await person(idctl)).email);
    expect((await addPasskey(other)).answer.body.recoveryCodes).toHaveLength(10);
    expect((await other.get('/api/v1/me/recovery-codes')).body).toEqual({
      remaining: 10,
      createdAt: expect.any(String),
    });
  });

  test('P17 the account page tells only of a use after which no factor and no codes were added', async () => {
    const { account, client, codes } = await enrolled();
    const { account: other, codes: theirs } = await enrolled();
    const recovering = () => isRecovering(account.id);
    await login(other.email, { recoveryCode: theirs[0] });
    expect(await recovering()).toBe(false);
    await login(account.email, { recoveryCode: codes[0] });
    expect(await recovering()).toBe(true);
    await addPasskey(client);
    expect(await recovering()).toBe(false);
    await login(account.email, { recoveryCode: codes[1] });
    expect(await recovering()).toBe(true);
    await client.post('/api/v1/me/recovery-codes');
    expect([await recovering(), await isRecovering(other.id)]).toEqual([false, true]);
  });

  test('P17 each signs in once, without regard to case, blanks, hyphens and similar letters', async () => {
    const { account, codes } = await enrolled();
    const [first = '', second = ''] = codes;
    expect((await login(account.email, { recoveryCode: first })).status).toBe(200);
    expect(await login(account.email, { recoveryCode: first })).toMatchObject(invalid);
    const typed = ` ${second.replace('-', ' ').replaceAll('1', 'l').replaceAll('0', 'O').toUpperCase()}`;
    expect((await login(account.email, { recoveryCode: typed })).status).toBe(200);
    const where = { kind: 'user.recovery_code.used' };
    const events = await Event.findAll({ where, order: ['id'] });
    expect(events.map(({ data }) => data)).toEqual([{ remaining: 9 }, { remaining: 8 }]);
  });

  test('P17 twenty parallel uses of one code begin one session', async () => {
    const { account, codes } = await enrolled();
    const uses = Array.from({ length: 20 }, () => login(account.email, { recoveryCode: codes[0] }));
    const statuses = (await Promise.all(uses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(await RecoveryCode.count({ where: { accountId: account.id } })).toBe(9);
  });

  test('P17 wrong codes count like wrong codes of the authenticator', async () => {
    const { account, codes, totpCode } = await enrolled();
    for (const wrong of [{ recoveryCode: '00000-00000' }, { totpCode: '000000' }])
      for (let at = 0; at < 2; at += 1)
        expect(await login(account.email, wrong)).toMatchObject(invalid);
    expect(await login(account.email, { recoveryCode: 'x' })).toMatchObject(invalid);
    for (const right of [{ recoveryCode: codes[0] }, { totpCode: totpCode() }])
      expect((await login(account.email, right)).status).toBe(429);
  });

  test('P17 before the password is right, nothing tells whether there are codes', async () => {
    const { account, codes } = await enrolled();
    const guess = (email: string | null) =>
      browser().post('/api/v1/auth/login', { email, password: 'wrong', recoveryCode: codes[0] });
    const [known, unknown] = [await guess(account.email), await guess('nobody@example.test')];
    const { requestId } = known.body;
    expect({ ...unknown.body, requestId }).toEqual(known.body);
    const asked = await login(account.email);
    expect(asked.body.methods).toEqual(['totp', 'recovery']);
    await transaction(() => RecoveryCode.destroy({ where: {} }));
    await transaction(() => Account.update({ hasRecoveryCodes: false }, { where: {} }));
    expect((await login(account.email)).body.methods).toEqual(['totp']);
  });

  test('P17 are stored only as hashes under a sealed random key, bound to the account', async () => {
    const [one, two] = [await enrolled(), await enrolled()];
    const rows = JSON.stringify([
      await RecoveryCode.findAll(),
      await InstanceKey.findAll(),
      await Event.findAll(),
    ]);
    for (const code of [...one.codes, ...two.codes]) {
      expect(rows).not.toContain(code);
      expect(rows).not.toContain(code.replace('-', ''));
    }
    expect((await InstanceKey.findAll()).map(({ sealed }) => sealed)).toEqual([
      expect.stringMatching(/^v1\./),
    ]);
    // A row that is copied to another account is useless there.
    const { hash } = await RecoveryCode.findOne({
      where: { accountId: one.account.id },
      rejectOnEmpty: true,
    });
    await transaction(() =>
      RecoveryCode.update({ hash }, { where: { accountId: two.account.id } }),
    );
    for (const code of one.codes.slice(0, 4))
      expect(await login(two.account.email, { recoveryCode: code })).toMatchObject(invalid);
  });

  test('P17 making new ones needs a recent sign-in in a session, and ends the old ones', async () => {
    const { account, client, codes, totpCode } = await enrolled();
    const { token } = (await client.post('/api/v1/me/tokens', { name: 'ci' })).body;
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await byToken.post('/api/v1/me/recovery-codes')).toMatchObject(needed);
    idctl.wait(11 * 60);
    expect(await client.post('/api/v1/me/recovery-codes')).toMatchObject(needed);
    expect((await client.post('/api/v1/auth/confirm', { recoveryCode: codes[0] })).status).toBe(
      204,
    );
    const made = await client.post('/api/v1/me/recovery-codes');
    expect(made).toMatchObject({ status: 201, body: { createdAt: expect.any(String) } });
    expect(await login(account.email, { recoveryCode: codes[1] })).toMatchObject(invalid);
    expect((await login(account.email, { recoveryCode: made.body.codes[0] })).status).toBe(200);
    expect((await login(account.email, { totpCode: totpCode() })).status).toBe(200);
  });

  test('P17 an account without a second factor has none, and cannot make any', async () => {
    const client = await signedIn(idctl, (await person(idctl)).email);
    expect((await client.get('/api/v1/me/recovery-codes')).body).toEqual({
      remaining: 0,
      createdAt: null,
    });
    expect(await client.post('/api/v1/me/recovery-codes')).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
  });

  test('P17 end with the last second factor, and by `totp-reset` even if a passkey stays', async () => {
    const { account, client, codes } = await enrolled();
    const left = () => RecoveryCode.count({ where: { accountId: account.id } });
    const { answer } = await addPasskey(client);
    const off = await client.post('/api/v1/me/totp/disable', { recoveryCode: codes[0] });
    expect(off.status).toBe(204);
    expect(await left()).toBe(9);
    expect((await client.send('DELETE', `/api/v1/me/passkeys/${answer.body.id}`)).status).toBe(204);
    expect(await left()).toBe(0);
    expect((await Account.findByPk(account.id))?.hasRecoveryCodes).toBe(false);
    const other = await enrolled();
    expect((await addPasskey(other.client)).answer.status).toBe(201);
    await resetTotp(idctl.operator(), { user: other.account.id, passkeys: false });
    expect(await login(other.account.email, { recoveryCode: other.codes[0] })).toMatchObject(
      invalid,
    );
  });

  test('P17 stay if a passkey is added while a code turns the app off', async () => {
    const { account, client, codes } = await enrolled();
    const [off, added] = await overtake(
      () => client.post('/api/v1/me/totp/disable', { recoveryCode: codes[0] }),
      () => addPasskey(client),
      RecoveryCode,
    );
    expect([off.status, added.answer.status]).toEqual([204, 201]);
    expect(await RecoveryCode.count({ where: { accountId: account.id } })).toBe(9);
    const used = await Event.findOne({ where: { kind: 'user.recovery_code.used' } });
    expect(used?.data).toEqual({ remaining: 9 });
  });

  test('P12 P17 that only another organization’s provider vouched for end where the person joins', async () => {
    const { account, codes } = await enrolled();
    const [one, two] = [await organization(idctl), await organization(idctl)];
    await transaction(() => RecoveryCode.update({ vouchedBy: one.id }, { where: {} }));
    await addMember(idctl.operator(), {
      org: two.slug,
      email: account.email ?? '',
      role: 'member',
    });
    expect(await login(account.email, { recoveryCode: codes[0] })).toMatchObject(invalid);
  });

  test('P17 stay valid when the master key was replaced twice', async () => {
    const { account, codes } = await enrolled();
    for (let at = 0; at < 2; at += 1) {
      const { resealed } = await rotateMasterKey(idctl.operator(), { prepare: false });
      // The authenticator's secret, the signing key and the key of the codes.
      expect(resealed).toBe(3);
    }
    const { keyId } = idctl.app.keyring;
    const { sealed } = await InstanceKey.findOne({ rejectOnEmpty: true });
    expect(sealed.startsWith(`v1.${keyId}.`)).toBe(true);
    expect((await login(account.email, { recoveryCode: codes[0] })).status).toBe(200);
  });

  test('the operator makes new ones for a person', async () => {
    const { account } = await enrolled();
    const { codes } = await regenerateRecoveryCodes(
      idctl.operator(),
      regenerateRecoveryCodes.forOperator.input.parse({ user: account.id }),
    );
    expect((await login(account.email, { recoveryCode: codes[9] })).status).toBe(200);
  });
});

describe('P17 the first second factor', () => {
  test('P17 a passkey needs a sign-in that was recent when its registration began', async () => {
    const client = await signedIn(idctl, (await person(idctl)).email);
    idctl.wait(9 * 60);
    const options = await client.post('/api/v1/me/passkeys/options');
    idctl.wait(2 * 60);
    const { credential } = authenticatorAt(baseUrl).create(options.body);
    expect((await client.post('/api/v1/me/passkeys', { credential })).status).toBe(201);
  });

  test('P17 an app is not confirmed once the session lacks the proof of a passkey added since', async () => {
    const { email } = await person(idctl);
    const thief = await signedIn(idctl, email);
    const { secret } = (await thief.post('/api/v1/me/totp')).body;
    const owner = await signedIn(idctl, email);
    const code = codeOf(idctl, secret);
    const [confirmed, added] = await overtake(
      () => thief.post('/api/v1/me/totp/confirm', { code }),
      () => addPasskey(owner),
      Session,
    );
    expect(added.answer.status).toBe(201);
    expect(confirmed).toMatchObject(needed);
  });

  test('P17 needs a sign-in that is recent at the start, in the session that confirms', async () => {
    const { email } = await person(idctl);
    const thief = await signedIn(idctl, email);
    idctl.wait(11 * 60);
    const owner = await signedIn(idctl, email);
    expect(await thief.post('/api/v1/me/totp')).toMatchObject(needed);
    expect(await thief.post('/api/v1/me/passkeys/options')).toMatchObject(needed);
    const { secret } = (await owner.post('/api/v1/me/totp')).body;
    const code = () => ({ code: codeOf(idctl, secret) });
    expect(await thief.post('/api/v1/me/totp/confirm', code())).toMatchObject(needed);
    // The person may take more than ten minutes from sign-in to confirmation.
    idctl.wait(12 * 60);
    expect((await owner.post('/api/v1/me/totp/confirm', code())).status).toBe(200);
    // The session has passed the second factor that it added.
    expect((await owner.post('/api/v1/me/tokens', { name: 'all', scope: 'admin' })).status).toBe(
      201,
    );
  });

  test('P17 cannot be added with a token, even if `tokens.manageCredentials` is on', async () => {
    const client = await signedIn(idctl, (await person(idctl)).email);
    const { token } = (await client.post('/api/v1/me/tokens', { name: 'ci' })).body;
    const byToken = idctl.client({ headers: { authorization: `Bearer ${token}` } });
    expect(await byToken.post('/api/v1/me/totp')).toMatchObject(needed);
    const { secret } = (await client.post('/api/v1/me/totp')).body;
    const confirmed = await byToken.post('/api/v1/me/totp/confirm', {
      code: codeOf(idctl, secret),
    });
    expect(confirmed).toMatchObject(needed);
  });
});
