import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { portOf } from '../support/ports.ts';
import { connected, registration } from '../support/sso.ts';
import { arrive, departing, failed, vouch } from './returning.ts';

// The attacks of RFC 9700 §4.4: one organization has a hostile provider, and the provider of the
// other is honest but sends no `iss`.

let idctl: Idctl;
let honest: LyingProvider;
let evil: LyingProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  honest = await startLyingProvider(registration.clientId, '');
  evil = await startLyingProvider(registration.clientId, '');
});
afterAll(async () => {
  await Promise.all([honest.stop(), evil.stop()]);
  await idctl.close();
});

const aCode = () => fresh('SplxlOBeZQQYbYS6WxSbIA');

/** Connects an honest organization, which has one person, and a hostile one. */
async function neighbours() {
  const { domain } = await connected(idctl, honest.issuer);
  const sub = fresh('victim');
  const victim = { sub, email: `${sub}@${domain}`, email_verified: true, name: 'Vera' };
  return { domain, victim, trap: await connected(idctl, evil.issuer) };
}

describe('S5 mixed-up issuers', () => {
  test("S5 an attacker cannot sign in with a code that a hostile provider got from the honest provider's user", async () => {
    const { domain, victim, trap } = await neighbours();
    // The attacker begins at the honest provider, and keeps the nonce and challenge for the victim.
    const attacker = await departing(idctl, domain);
    // The victim is lured to the evil provider, which redirects the browser to the honest one. A
    // victim who is signed in there notices nothing. The code returns with the evil provider's
    // state, so idctl sends it to the evil provider.
    const lured = await departing(idctl, trap.domain);
    await vouch(honest, attacker.nonce, victim);
    const code = aCode();
    expect(await arrive(lured.browser, { code, state: lured.state })).toMatchObject(failed);
    expect(evil.seen.filter(({ body }) => body.includes(code))).not.toEqual([]);
    // The attacker now has the code, and uses it in the sign-in that began first.
    expect(await arrive(attacker.browser, { code, state: attacker.state })).toMatchObject(failed);
    expect(honest.seen.filter(({ body }) => body.includes(code))).toEqual([]);
    expect(await Account.count({ where: { email: victim.email } })).toBe(0);
  });

  test('S5 a code still works in its own sign-in after another sign-in failed with it', async () => {
    const { domain, victim } = await neighbours();
    const [first, second] = [await departing(idctl, domain), await departing(idctl, domain)];
    await vouch(honest, second.nonce, victim);
    const code = aCode();
    expect(await arrive(first.browser, { code, state: first.state })).toMatchObject(failed);
    expect((await arrive(second.browser, { code, state: second.state })).status).toBe(200);
  });

  test('S5 a response that names another issuer is refused before a request is sent', async () => {
    const { victim, trap } = await neighbours();
    const lured = await departing(idctl, trap.domain);
    await vouch(evil, lured.nonce, victim);
    const before = evil.seen.filter(({ path }) => path === '/token').length;
    const answer = await arrive(lured.browser, {
      code: aCode(),
      state: lured.state,
      iss: honest.issuer,
    });
    expect(answer).toMatchObject(failed);
    expect(evil.seen.filter(({ path }) => path === '/token')).toHaveLength(before);
  });

  test('S5 a response without `iss` is refused if the provider’s metadata promises `iss`', async () => {
    const promising = await startLyingProvider(registration.clientId, '');
    const document = {
      ...promising.document(),
      authorization_response_iss_parameter_supported: true,
    };
    promising.answers.discovery = () => ({ body: document });
    const { domain } = await connected(idctl, promising.issuer);
    const come = async (iss: Record<string, string>) => {
      const { browser, state, nonce } = await departing(idctl, domain);
      const sub = fresh('ada');
      await vouch(promising, nonce, { sub, email: `${sub}@${domain}` });
      return arrive(browser, { code: aCode(), state, ...iss });
    };
    expect(await come({})).toMatchObject(failed);
    expect((await come({ iss: promising.issuer })).status).toBe(200);
    await promising.stop();
  });

  test('S5 two issuers on one host are separate: a token of one is refused at the other', async () => {
    const { issuer: front, realms, stop } = await twoRealms();
    const [acme, rival] = [
      await connected(idctl, `${front}/a`),
      await connected(idctl, `${front}/b`),
    ];
    const come = async (realm: 'a' | 'b', vouching: 'a' | 'b', iss: 'a' | 'b') => {
      const { domain } = realm === 'a' ? acme : rival;
      const { browser, state, nonce } = await departing(idctl, domain);
      const sub = fresh('ada');
      const claims = { ...realms[vouching].claims(nonce), iss: `${front}/${iss}`, sub };
      const id_token = await realms[vouching].sign(claims);
      realms[realm].answers.token = () => ({
        body: { access_token: 'at', token_type: 'Bearer', id_token },
      });
      realms[realm].answers.userinfo = () => ({ body: { sub, email: `${sub}@${domain}` } });
      return arrive(browser, { code: aCode(), state });
    };
    expect((await come('a', 'a', 'a')).status).toBe(200);
    expect(await come('a', 'b', 'b')).toMatchObject(failed);
    expect(await come('a', 'a', 'b')).toMatchObject(failed);
    expect(await come('a', 'b', 'a')).toMatchObject(failed);
    await stop();
  });
});

/** Starts two issuers on one host, at `/a` and `/b`. */
async function twoRealms() {
  const a = await startLyingProvider(registration.clientId, '');
  const b = await startLyingProvider(registration.clientId, '');
  const realms = { a, b };
  const server = createServer(async (request, response) => {
    const [, realm = '', ...path] = (request.url ?? '').split('/');
    const target = `${realm === 'b' ? b.issuer : a.issuer}/${path.join('/')}`;
    const body = request.method === 'POST' ? await text(request) : null;
    const answer = await fetch(target, { method: request.method ?? 'GET', body });
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${portOf(server)}`;
  for (const [name, realm] of Object.entries(realms)) {
    const body = JSON.parse(
      JSON.stringify(realm.document()).replaceAll(realm.issuer, `${issuer}/${name}`),
    );
    realm.answers.discovery = () => ({ body });
  }
  const stop = async () => {
    server.closeAllConnections();
    await Promise.all([a.stop(), b.stop(), new Promise((closed) => server.close(closed))]);
  };
  return { issuer, realms, stop };
}
