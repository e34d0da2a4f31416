import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { changeSso, enableSso } from '../../src/services/tenancy/sso/operations.ts';
import { testSso } from '../../src/services/tenancy/sso/test.ts';
import { fresh, organization, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import {
  type ProviderPerson,
  type SamlProgram,
  startPysaml2,
  startSimpleSamlPhp,
} from '../support/saml-programs.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
});
afterAll(() => idctl.close());

/** An organization with a connection to the provider, which knows one person. */
async function connectedTo(start: typeof startPysaml2, signs: ProviderPerson['signs']) {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  const operator = idctl.operator();
  const project = await createProject(operator, { org: org.slug, name: 'Web' });
  const mapping = { group: 'staff', project: project.slug, role: 'member' as const };
  await addMapping(operator, { org: org.slug, ...mapping });
  const email = `${fresh('ada')}@${domain}`;
  const at = `/auth/saml/${org.id}`;
  const attributes = { mail: [email], displayName: ['Ada Lovelace'], isMemberOf: ['staff', 'all'] };
  const provider = await start({
    metadata: (await idctl.client().get(`${at}/metadata`)).body,
    entityId: `${idctl.baseUrl}${at}/metadata`,
    acsUrl: `${idctl.baseUrl}${at}/acs`,
    people: { ada: { id: fresh('ada-'), attributes, signs } },
  });
  const settings = { org: org.slug, kind: 'saml' as const, emailDomain: domain };
  const { metadataUrl } = provider;
  await changeSso(operator, { ...settings, metadataUrl, groupsAttribute: 'isMemberOf' });
  const { ok, message } = await testSso(operator, { org: org.slug });
  expect([ok, message]).toEqual([true, 'All checks passed. Now sign in with a browser.']);
  await enableSso(operator, { org: org.slug });
  return { org, domain, email, provider, at };
}

async function signIn(
  { domain, at, provider }: { domain: string; at: string; provider: SamlProgram },
  query = '',
) {
  const browser = idctl.client({ keepCookies: true });
  const start = await browser.get(`/auth/sso/start?domain=${domain}${query}`);
  const { SAMLResponse = '', RelayState = '' } = await provider.visit(
    start.body.authorizationUrl,
    'ada',
  );
  const fields = { SAMLResponse, ...(RelayState && { RelayState }) };
  const headers = { origin: 'http://127.0.0.1', 'sec-fetch-site': 'cross-site' };
  const posted = await idctl.client().form(`${at}/acs`, fields, headers);
  const location = String(posted.headers['location'] ?? '');
  return { browser, posted, location };
}

const programs = [
  ['python3-pysaml2', startPysaml2],
  ['simplesamlphp', startSimpleSamlPhp],
] as const;

for (const [name, start] of programs)
  describe.skipIf(counterpartMissing(name))(`a sign-in through ${name}`, () => {
    test.each(['assertion', 'response', 'both'] as const)(
      'a person signs in with groups, and comes back to the page (signed: %s)',
      { timeout: 60_000 },
      async (signs) => {
        const connected = await connectedTo(start, signs);
        try {
          const { browser, posted, location } = await signIn(connected, '&returnTo=/projects');
          expect([posted.status, posted.body]).toEqual([302, '']);
          const arrived = await browser.get(location, { accept: 'text/html' });
          expect([arrived.status, arrived.headers['location']]).toEqual([302, '/projects']);
          const me = (await browser.get('/api/v1/me')).body;
          expect(me).toMatchObject({
            email: connected.email,
            name: 'Ada Lovelace',
            organizations: [
              { slug: connected.org.slug, projects: [{ role: 'member', synced: true }] },
            ],
          });
          const again = await signIn(connected);
          const second = await again.browser.get(again.location);
          expect(second.body.user.id).toBe(me.id);
        } finally {
          await connected.provider.stop();
        }
      },
    );
  });
