import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { SigningKey } from '../../src/database/models/signing-key.ts';
import { transaction } from '../../src/database/transaction.ts';
import { forgetKeys } from '../../src/services/foundation/keys/signing-key.ts';
import { password } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { application, browserOf, walk } from '../support/relying-party.ts';
import { enrolled } from '../support/two-factor.ts';

// Only the operator may learn the cause of these refusals. Tests pages, JSON and the OAuth format.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const shown = 'This daemon cannot use its master key. Its log names the cause.';

test('X3 neither a page nor the API says which stored secret the master key does not open', async () => {
  const { account } = await enrolled(idctl);
  const email = account.email ?? '';
  await transaction(() => Account.update({ totpSecret: 'broken' }, { where: { id: account.id } }));
  const body = { email, password, totpCode: '123456' };
  const logged = vi.spyOn(idctl.app.log, 'error');
  onTestFinished(() => logged.mockRestore());
  const answer = await idctl.client().post('/api/v1/auth/login', body);
  expect(answer).toMatchObject({ status: 503, body: { code: 'key_invalid', detail: shown } });
  expect(JSON.stringify(answer.body)).not.toContain('sealed');
  const err = expect.objectContaining({
    message: expect.stringContaining('is not a sealed value'),
  });
  await expect
    .poll(() => logged.mock.calls)
    .toContainEqual([
      expect.objectContaining({ requestId: answer.body.requestId, err }),
      'request',
    ]);
  const browser = idctl.client({ keepCookies: true });
  const page = await open(browser, `/login?identifier=${encodeURIComponent(email)}`);
  const asked = await page.submit('/login/password', { password });
  const refused = await asked.submit('/login/code', { totpCode: '123456' });
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining(shown)]);
  expect(refused.text).not.toContain('sealed');
});

test('X3 the token endpoint does not say that the master key does not open the signing key', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  const { path, checks } = await app.begin();
  const callback = new URL(await walk(browser, path));
  await transaction(() => SigningKey.update({ privateJwk: 'broken' }, { where: {} }));
  forgetKeys(idctl.operator());
  const answer = await idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'authorization_code',
    redirect_uri: 'https://app.example.test/callback',
    client_id: app.clientId,
    client_secret: app.secret,
    code: callback.searchParams.get('code') ?? '',
    code_verifier: checks.pkceCodeVerifier,
  });
  expect(answer).toMatchObject({ status: 503, body: { error_description: shown } });
});
