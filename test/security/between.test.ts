import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Domain } from '../../src/database/models/domain.ts';
import { transaction } from '../../src/database/transaction.ts';
import {
  addDomain,
  assertDomain,
  removeDomain,
} from '../../src/services/tenancy/domains/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { disableSso, removeSso, saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import { organization } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { arrive, departing, failed, returning, vouch } from './returning.ts';

// These tests change a connection between the start of a sign-in and its callback, or forge parts
// of the requests.

let idctl: Idctl;
let provider: LyingProvider;
let other: LyingProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startLyingProvider(registration.clientId, '');
  other = await startLyingProvider(registration.clientId, '');
});
afterAll(async () => {
  await Promise.all([provider.stop(), other.stop()]);
  await idctl.close();
});

type Connected = Awaited<ReturnType<typeof connected>>;

const save = ({ org, domain }: Connected, more: Record<string, unknown>) => {
  const input = {
    org: org.slug,
    emailDomain: domain,
    issuer: provider.issuer,
    ...registration,
    enabled: true,
  };
  return saveSso(idctl.operator(), saveSsoInput.parse({ ...input, ...more }));
};

const changes: [string, (made: Connected) => Promise<unknown>][] = [
  ['is disabled', ({ org }) => disableSso(idctl.operator(), { org: org.slug })],
  ['is removed', ({ org }) => removeSso(idctl.operator(), { org: org.slug })],
  [
    'is removed and created again',
    async (made) => {
      await removeSso(idctl.operator(), { org: made.org.slug });
      await save(made, {});
    },
  ],
  ['gets another issuer', (made) => save(made, { issuer: other.issuer })],
  ['gets another client ID', (made) => save(made, { clientId: 'another' })],
  ['gets another redirect URI', (made) => save(made, { redirectUri: 'https://id.test/back' })],
  ['gets another domain', (made) => save(made, { emailDomain: 'elsewhere.test', enabled: false })],
  // Possible if the row was deleted by hand, or `trust.domains` was off at the removal.
  [
    'has a domain that is no longer verified',
    ({ domain }) => transaction(() => Domain.destroy({ where: { name: domain } })),
  ],
  [
    'loses its domain',
    ({ org, domain }) => removeDomain(idctl.operator(), { org: org.slug, domain }),
  ],
  [
    'loses its domain to another organization',
    async ({ org, domain }) => {
      await removeDomain(idctl.operator(), { org: org.slug, domain });
      const rival = await organization(idctl);
      await addDomain(idctl.operator(), { org: rival.slug, domain });
      await assertDomain(idctl.operator(), { org: rival.slug, domain });
    },
  ],
  [
    'is deleted with its organization',
    ({ org }) => deleteOrganization(idctl.operator(), { org: org.slug }),
  ],
];

describe('S6 changes between start and callback', () => {
  test.each(changes)(
    'S6 the sign-in fails, before the provider is asked, if the connection %s',
    async (_what, change) => {
      const made = await connected(idctl, provider.issuer);
      const { browser, callback, userinfo } = await returning(idctl, provider, made);
      await change(made);
      const asked = provider.seen.length;
      expect(await comeBack(browser, callback)).toMatchObject(failed);
      expect(provider.seen).toHaveLength(asked);
      expect(await Account.count({ where: { email: userinfo.email } })).toBe(0);
    },
  );

  test.each(changes)(
    'S6 no person is signed in if, while the provider answers, the connection %s',
    async (_what, change) => {
      const made = await connected(idctl, provider.issuer);
      const { browser, callback, userinfo } = await returning(idctl, provider, made);
      const { userinfo: answer } = provider.answers;
      provider.answers.userinfo = async (asked) => {
        await change(made);
        return answer(asked);
      };
      expect(await comeBack(browser, callback)).toMatchObject(failed);
      expect(await Account.count({ where: { email: userinfo.email } })).toBe(0);
    },
  );

  test('S6 the sign-in succeeds if other fields of the connection change meanwhile', async () => {
    const made = await connected(idctl, provider.issuer);
    const { browser, callback } = await returning(idctl, provider, made);
    await save(made, { groupsClaim: 'roles', autoRemove: true });
    expect((await comeBack(browser, callback)).status).toBe(200);
  });

  test('S10 a client secret changed during a sign-in is used at once, and goes only to its provider', async () => {
    const made = await connected(idctl, provider.issuer);
    const { browser, callback } = await returning(idctl, provider, made);
    await save(made, { clientSecret: 'the new one' });
    expect((await comeBack(browser, callback)).status).toBe(200);
    const { authorization = '' } =
      provider.seen.findLast(({ path }) => path === '/token')?.headers ?? {};
    expect(atob(authorization.replace('Basic ', ''))).toContain('the%20new%20one');
    expect(other.seen.filter(({ path }) => path === '/token')).toEqual([]);
  });
});

describe('S2 the state of a sign-in', () => {
  test('S2 leads only to its own provider, and signs in no person of another organization', async () => {
    const [here, there] = [
      await connected(idctl, provider.issuer),
      await connected(idctl, other.issuer),
    ];
    const [mine, theirs] = [
      await departing(idctl, here.domain),
      await departing(idctl, there.domain),
    ];
    await vouch(other, theirs.nonce, { sub: 'eve', email: `eve@${there.domain}` });
    await vouch(provider, mine.nonce, { sub: 'eve', email: `eve@${there.domain}` });
    const asked = other.seen.length;
    // The code is from `other`, the state from `provider`. So idctl asks only `provider`, and
    // refuses its claims for the other organization's domain.
    const answer = await arrive(mine.browser, { code: 'of the other provider', state: mine.state });
    expect(answer).toMatchObject(failed);
    expect(other.seen).toHaveLength(asked);
    expect(await Account.count({ where: { email: `eve@${there.domain}` } })).toBe(0);
  });
});

describe('S1 P9 parameters of the authorization request', () => {
  test('P9 no header of the request changes the redirect URI', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const headers = {
      host: 'evil.test',
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.test;proto=https',
      'x-original-url': 'https://evil.test/',
    };
    const { body } = await idctl.client().get(`/auth/sso/start?domain=${domain}`, headers);
    const { searchParams } = new URL(body.authorizationUrl);
    expect(searchParams.get('redirect_uri')).toBe(`${idctl.baseUrl}/auth/sso/callback`);
    expect(body.authorizationUrl).not.toContain('evil.test');
  });

  test('S1 every sign-in has its own state, nonce and challenge', async () => {
    const { domain } = await connected(idctl, provider.issuer);
    const seen = new Set<string>();
    for (let at = 0; at < 5; at += 1) {
      const { body } = await idctl.client().get(`/auth/sso/start?domain=${domain}`);
      const { searchParams } = new URL(body.authorizationUrl);
      expect(searchParams.get('code_challenge_method')).toBe('S256');
      expect(searchParams.get('response_type')).toBe('code');
      for (const name of ['state', 'nonce', 'code_challenge'])
        seen.add(searchParams.get(name) ?? '');
    }
    expect(seen.size).toBe(15);
  });
});
