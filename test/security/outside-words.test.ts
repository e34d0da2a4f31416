import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../src/database/models/account.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { Project } from '../../src/database/models/project.ts';
import { transaction } from '../../src/database/transaction.ts';
import { createLog } from '../../src/log/log.ts';
import { createDiscovery } from '../../src/outbound/discovery.ts';
import { canonicalEmail } from '../../src/services/foundation/domain-names/canonical.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { organization, signedIn } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { comeBack, connected, registration } from '../support/sso.ts';
import { failed, returning, unusable, whyUnusable } from './returning.ts';

// These tests check the text that idctl accepts from a lying provider or a hostile admin.

let idctl: Idctl;
let provider: LyingProvider;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  provider = await startLyingProvider(registration.clientId, '');
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

describe('claims of a person', () => {
  test.each([
    ['a NUL', 'a\0b'],
    ['control characters', 'a\u001b[2J'],
    ['more than 255 characters', 'x'.repeat(256)],
    ['a hundred thousand characters', 'x'.repeat(100_000)],
  ])('S4 a subject with %s is reported as a fault of the provider', async (_what, sub) => {
    const made = await returning(idctl, provider, { claims: { sub } });
    const { browser, callback, answerToken, idToken } = made;
    answerToken(await idToken({ sub }));
    expect(await comeBack(browser, callback)).toMatchObject(unusable);
    expect(await whyUnusable(made.domain)).toMatchObject({ reason: 'sub_invalid' });
    expect(await Account.count({ where: { email: made.userinfo.email } })).toBe(0);
  });

  test.each([
    ['control characters', 'Eve\u001b]0;owned\u0007'],
    ['C1 control characters', 'Eve\u009b2J'],
    ['bidirectional characters', 'Eve\u202egnp.exe'],
    ['a line break', 'Eve\nroot'],
    ['a zero-width space', 'E\u200bve'],
    ['tag characters', 'Eve\u{e0072}\u{e006f}'],
    ['more than 200 characters', 'x'.repeat(201)],
    ['an object in place of text', { toString: 'Eve' }],
  ])('X9 a name with %s is not accepted from a provider', async (_what, name) => {
    const { browser, callback, sub } = await returning(idctl, provider, { claims: { name } });
    const answer = await comeBack(browser, callback);
    expect(answer.body.user.name).toBe(sub);
  });

  test.each([
    ['a letter that only looks like ASCII', (address: string) => `\u212a${address}`],
    ['two addresses', (address: string) => `${address},admin@acme.test`],
    [
      'a quoted local part',
      (address: string) => `"${address.split('@')[0]}"@${address.split('@')[1]}`,
    ],
    ['a comment', (address: string) => address.replace('@', '(x)@')],
    ['a line break', (address: string) => `${address}\nBcc: eve@evil.test`],
    ['a route', (address: string) => `@evil.test:${address}`],
    ['a second domain at its end', (address: string) => `${address}@evil.test`],
    [
      'a second domain before its own',
      (address: string) => `eve@evil.test@${address.split('@')[1]}`,
    ],
    ['an array in place of text', (address: string) => [address]],
  ])('I1 D1 an e-mail claim with %s counts as no address', async (_what, twist) => {
    const { domain } = await connected(idctl, provider.issuer);
    const email = twist(`victim@${domain}`);
    const { browser, callback } = await returning(idctl, provider, { domain, claims: { email } });
    expect(await comeBack(browser, callback)).toMatchObject(failed);
  });

  test('D1 an ASCII address is lower-cased; any other is refused', () => {
    expect(canonicalEmail('\u212aate@acme.test')).toBeNull();
    expect(canonicalEmail('KATE@ACME.test')).toBe('kate@acme.test');
  });
});

describe('configuration by a hostile admin', () => {
  test.each(['issuer', 'redirectUri'])(
    'X9 invisible or non-ASCII characters in %s are refused',
    async (field) => {
      const org = await organization(idctl);
      const owner = await signedIn(idctl, org.owner.email);
      for (const hidden of ['\u001b[2J', '\u202e', '\u009b', '\ufeff', 'ü']) {
        const body = {
          emailDomain: 'acme.test',
          issuer: 'https://id.acme.test',
          ...registration,
          [field]: `https://id.acme.test/${hidden}x`,
        };
        const answer = await owner.send('PUT', `/api/v1/orgs/${org.slug}/sso`, { body });
        expect(answer, JSON.stringify(hidden)).toMatchObject({
          status: 400,
          body: { errors: [{ path: field }] },
        });
      }
    },
  );

  test('S7 a blob: address of a configured origin is refused', async () => {
    const friends = {
      outbound: { allow: ['127.0.0.1'] },
      http: { returnToOrigins: ['https://app.test'] },
    };
    Object.assign(idctl.app.config, friends);
    const { domain } = await connected(idctl, provider.issuer);
    const at = (returnTo: string) =>
      idctl
        .client()
        .get(`/auth/sso/start?domain=${domain}&returnTo=${encodeURIComponent(returnTo)}`);
    expect((await at('https://app.test/x')).status).toBe(200);
    expect(await at('blob:https://app.test/x')).toMatchObject({ status: 400 });
  });
});

test('X9 names that an earlier version accepted are still shown, and can be changed', async () => {
  const org = await organization(idctl);
  const owner = await signedIn(idctl, org.owner.email);
  const at = `/api/v1/orgs/${org.slug}`;
  await createProject(idctl.operator(), { org: org.slug, name: 'Website', slug: 'website' });
  const old = 'A\u200bcme\u{e0041}';
  const named = { name: old };
  await transaction(async () => {
    await Organization.update(named, { where: { id: org.id } });
    await Project.update(named, { where: { organizationId: org.id } });
    await Account.update(named, { where: { id: org.owner.id } });
  });
  const { body } = await owner.get(`${at}/projects`);
  expect(body.items).toMatchObject([named]);
  for (const path of [at, '/api/v1/me']) {
    expect(await owner.get(path), path).toMatchObject({ status: 200, body: named });
  }
  for (const path of [at, `${at}/projects/website`, '/api/v1/me']) {
    expect(await owner.send('PATCH', path, { body: named })).toMatchObject({ status: 400 });
    const renamed = { name: 'Acme' };
    expect(await owner.send('PATCH', path, { body: renamed })).toMatchObject({
      status: 200,
      body: renamed,
    });
  }
});

describe('values that must stay small', () => {
  test('S9 only the needed fields of a discovery document are kept', async () => {
    const known = ['client_secret_basic', 'client_secret_post'];
    const methods = [...Array.from({ length: 50_000 }, (_, at) => `m${at}`), ...known];
    const body = {
      ...provider.document(),
      token_endpoint_auth_methods_supported: methods,
      more: 'x'.repeat(1000),
    };
    const discovery = createDiscovery(async () => Response.json(body));
    const kept = await discovery.read(provider.issuer);
    expect(kept.token_endpoint_auth_methods_supported).toEqual(known);
    expect(JSON.stringify(kept).length).toBeLessThan(1000);
  });

  test('X4 the log shortens a provider’s long text, and omits input that could not be parsed', () => {
    const lines: string[] = [];
    const log = createLog(
      { log: { level: 'info' } },
      { write: (line: string) => void lines.push(line) },
    );
    log.error({ err: new Error('x'.repeat(1_000_000)) }, 'long');
    expect(lines.join().length).toBeLessThan(10_000);
    for (const text of ['access_token=canary', 'canary', '{"a":"b" canary']) {
      try {
        JSON.parse(text);
      } catch (cause) {
        log.error({ err: new Error('not JSON', { cause }) }, 'unparsable');
      }
    }
    expect(lines.join()).toContain('JSON.parse');
    expect(lines.join()).not.toMatch(/canary|access_tok/);
  });
});
