import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { initialize } from '../../src/services/instance/setup/initialize.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser, setUserPassword } from '../../src/services/people/users/operations.ts';
import { fresh, password, person, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ instance: { name: 'Wonderland' } });
});
afterAll(() => idctl.close());

const path = '/api/v1/me/password';
const another = 'a staple of another kind';

describe('P5 changing the password', () => {
  test('P5 with the current password, the new one is set, other sessions end and this session continues', async () => {
    const { email, id } = await person(idctl);
    const [here, there] = [await signedIn(idctl, email), await signedIn(idctl, email)];
    const answer = await here.post(path, { currentPassword: password, newPassword: another });
    expect(answer).toMatchObject({ status: 204, body: '', cookies: [] });
    expect((await there.get('/api/v1/me')).status).toBe(401);
    expect((await there.post('/api/v1/auth/refresh')).status).toBe(401);
    expect((await here.get('/api/v1/me')).status).toBe(200);
    expect((await here.post('/api/v1/auth/refresh')).status).toBe(200);
    await expect(signedIn(idctl, email)).rejects.toThrow('401');
    expect(
      (await idctl.client().post('/api/v1/auth/login', { email, password: another })).status,
    ).toBe(200);
    expect(await changes(id)).toMatchObject([{ actor: { kind: 'user', id }, data: {} }]);
  });

  test('P5 without the current password, the refusal names the field and nothing changes', async () => {
    const { email, id } = await person(idctl);
    const [here, there] = [await signedIn(idctl, email), await signedIn(idctl, email)];
    const wrong = await here.post(path, {
      currentPassword: 'not the password',
      newPassword: another,
    });
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: 'currentPassword' }] } });
    const absent = await here.post(path, { newPassword: another });
    expect(absent).toMatchObject({ status: 400, body: { errors: [{ path: 'currentPassword' }] } });
    expect((await there.get('/api/v1/me')).status).toBe(200);
    await signedIn(idctl, email);
    expect(await changes(id)).toEqual([]);
  });

  test('P8 guessing the current password from a session is limited like a sign-in', async () => {
    const { email } = await person(idctl);
    const here = await signedIn(idctl, email);
    const guess = () =>
      here.post(path, { currentPassword: 'not the password', newPassword: another });
    const most = idctl.app.config.limits.accountFailures;
    for (let count = 0; count < most; count++) expect((await guess()).status).toBe(400);
    const right = await here.post(path, { currentPassword: password, newPassword: another });
    expect(right).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
    expect((await here.get('/api/v1/me')).status).toBe(200);
  });

  test('P5 for an account without a password, the hint says that the operator can set one', async () => {
    const { email, id } = await person(idctl);
    const here = await signedIn(idctl, email);
    await setNoPassword(id);
    const answer = await here.post(path, { currentPassword: password, newPassword: another });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 'conflict', hint: expect.stringContaining('operator') },
    });
  });

  test('interface page: only a session can change the password; a token or no credential is refused', async () => {
    const { email, id } = await person(idctl);
    const { token } = await createToken(idctl.operator(), { user: id, name: 'ci' });
    const body = { currentPassword: password, newPassword: another };
    const byToken = await idctl.client().post(path, body, { 'x-api-key': token });
    expect(byToken).toMatchObject({ status: 403, body: { code: 'session_required' } });
    expect(await idctl.client().post(path, body)).toMatchObject({ status: 401 });
    await signedIn(idctl, email);
  });

  test('P5 of two concurrent changes, exactly one succeeds', async () => {
    const { email } = await person(idctl);
    const here = await signedIn(idctl, email);
    const wanted = ['the first staple of all', 'the second staple of all'];
    const answers = await Promise.all(
      wanted.map((newPassword) => here.post(path, { currentPassword: password, newPassword })),
    );
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    const chosen = wanted[answers.findIndex(({ status }) => status === 204)];
    expect(
      (await idctl.client().post('/api/v1/auth/login', { email, password: chosen })).status,
    ).toBe(200);
  });
});

describe('P2 sessions', () => {
  test('P2 P5 a person lists their own sessions; an ended session and its refresh token are refused at once', async () => {
    const { email } = await person(idctl);
    const [here, there] = [await signedIn(idctl, email), await signedIn(idctl, email)];
    const { items } = (await here.get('/api/v1/me/sessions')).body;
    expect(items).toHaveLength(2);
    expect(items.filter((one: { current: boolean }) => one.current)).toHaveLength(1);
    const other = items.find((one: { current: boolean }) => !one.current);
    expect(other).toMatchObject({ method: 'password', address: '127.0.0.1' });
    expect((await here.send('DELETE', `/api/v1/me/sessions/${other.id}`)).status).toBe(204);
    expect((await there.get('/api/v1/me')).status).toBe(401);
    expect((await there.post('/api/v1/auth/refresh')).status).toBe(401);
    expect((await here.get('/api/v1/me/sessions')).body.items).toHaveLength(1);
    expect((await here.send('DELETE', `/api/v1/me/sessions/${other.id}`)).status).toBe(404);
  });

  test('P2 another person’s session cannot be ended', async () => {
    const [mine, theirs] = [await person(idctl), await person(idctl)];
    const [me, them] = [await signedIn(idctl, mine.email), await signedIn(idctl, theirs.email)];
    const { items } = (await them.get('/api/v1/me/sessions')).body;
    expect((await me.send('DELETE', `/api/v1/me/sessions/${items[0].id}`)).status).toBe(404);
    expect((await them.get('/api/v1/me')).status).toBe(200);
  });
});

describe('P7 the rules for new passwords', () => {
  const create = (password: string, more: object = {}) =>
    createUser(idctl.operator(), {
      email: `${fresh('ada')}@acme-works.test`,
      name: 'Ada Byron',
      password,
      ...more,
    });

  test.each([
    'password',
    '12345678',
    'qwertyuiop',
    'PassWord1',
    'iloveyou',
    'p@ssw0rd',
    'administrator',
  ])('P7 the common password %j is refused; upper and lower case do not matter', async (common) => {
    const refusal = {
      code: 'invalid_input',
      faults: [{ path: 'password', message: /most common/ }],
    };
    await expect(create(common)).rejects.toMatchObject(matching(refusal));
  });

  test.each([
    ['the address', 'lovelace@acme-works.test'],
    ['the local part of the address and a few characters', 'Lovelace2026!'],
    ['the domain of the address', 'acme-works.test'],
    ['a word of the domain and a few characters', 'Acme2026!'],
    ['the name', 'Ada Byron'],
    ['the name and a few characters', 'byron-ada-1'],
    ['the name of the instance', 'wonderland'],
    ['several of these words', 'AdaByronWonderland1'],
  ])('P7 a password made of %s is refused: %j', async (_, chosen) => {
    const refusal = { faults: [{ path: 'password', message: /characters besides name/ }] };
    await expect(create(chosen, { email: 'lovelace@acme-works.test' })).rejects.toMatchObject(
      matching(refusal),
    );
  });

  test('P7 a common password after the name is refused as a common password', async () => {
    const refusal = { faults: [{ path: 'password', message: /most common/ }] };
    await expect(create('Byron12345678')).rejects.toMatchObject(matching(refusal));
    // A common password that contains the name by chance is refused too.
    await expect(create('administrator', { name: 'Min' })).rejects.toMatchObject(matching(refusal));
  });

  test.each([
    'only lower case letters',
    '8374659283746501',
    'ünïcödé is välid',
    'Byron likes horses a lot',
  ])('P7 there are no composition rules: %j is accepted', async (chosen) => {
    expect((await create(chosen)).name).toBe('Ada Byron');
  });

  test('§5.3 P7 a password has 8 to 128 characters; an emoji counts as one', async () => {
    for (const wrong of ['1 short', '🐎'.repeat(7), 'x'.repeat(129)]) {
      await expect(create(wrong)).rejects.toMatchObject({ faults: [{ path: 'password' }] });
    }
    for (const right of ['8 enough', '🐎'.repeat(128)])
      expect((await create(right)).name).toBe('Ada Byron');
  });

  test('P7 the rules apply when a password is set or changed, and not at sign-in', async () => {
    const { email, id } = await person(idctl);
    const user = { user: id, password: 'password1' };
    await expect(setUserPassword(idctl.operator(), user)).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const here = await signedIn(idctl, email);
    const change = { currentPassword: password, newPassword: 'password1' };
    expect(await here.post(path, change)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'newPassword', message: expect.stringContaining('most common') }] },
    });
    const tried = await idctl.client().post('/api/v1/auth/login', { email, password: 'password1' });
    expect(tried).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  });

  test('P7 the password that init generates is accepted', async () => {
    const { owner } = await initialize(idctl.operator(), { owner: 'wonderland@wonderland.test' });
    const login = { email: owner.email, password: owner.password };
    expect((await idctl.client().post('/api/v1/auth/login', login)).status).toBe(200);
  });
});

async function changes(id: string) {
  const events = await Event.findAll({ where: { kind: 'user.password.changed' } });
  return events.filter(({ subject }) => subject?.id === id);
}

async function setNoPassword(id: string): Promise<void> {
  await transaction(() => Account.update({ passwordHash: null }, { where: { id } }));
}

/** Matches a refusal whose messages fit these patterns. */
function matching({
  faults,
  ...rest
}: {
  code?: string;
  faults: { path: string; message: RegExp }[];
}) {
  return {
    ...rest,
    faults: faults.map(({ path, message }) => ({ path, message: expect.stringMatching(message) })),
  };
}
