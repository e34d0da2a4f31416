import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guideOf, samlGuideOf } from '../../scripts/guides/page.ts';
import { Refusal } from '../../src/errors.ts';
import {
  guidedProviders,
  issuerFrom,
  type ProviderName,
  providers,
} from '../../src/services/tenancy/sso/providers.ts';

import {
  guidedSamlProviders,
  samlProviders,
} from '../../src/services/tenancy/sso/saml-providers.ts';

// The issuer that follows from the value that a provider shows.

const tenant = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
const entra = `https://login.microsoftonline.com/${tenant}/v2.0`;

describe('the issuer', () => {
  test.each<[ProviderName, string, string]>([
    ['entra', tenant, entra],
    ['entra', tenant.toUpperCase(), entra],
    ['entra', ` ${tenant} `, entra],
    ['entra', entra, entra],
    ['entra', `${entra}/.well-known/openid-configuration`, entra],
    ['okta', 'acme', 'https://acme.okta.com'],
    ['okta', 'acme.okta.com', 'https://acme.okta.com'],
    ['okta', 'acme-admin.okta.com', 'https://acme.okta.com'],
    ['okta', 'acme.okta-emea.com', 'https://acme.okta-emea.com'],
    ['okta', 'Login.Acme.com', 'https://login.acme.com'],
    ['okta', 'https://acme.okta.com/oauth2/default', 'https://acme.okta.com/oauth2/default'],
    ['google', '', 'https://accounts.google.com'],
    ['keycloak', 'https://id.acme.com/realms/acme', 'https://id.acme.com/realms/acme'],
    ['keycloak', 'https://id.acme.com/realms/acme/', 'https://id.acme.com/realms/acme'],
    ['keycloak', 'https://id.acme.com/auth/realms/a', 'https://id.acme.com/auth/realms/a'],
    [
      'keycloak',
      'https://id.acme.com/realms/acme/.well-known/openid-configuration',
      'https://id.acme.com/realms/acme',
    ],
    ['auth0', 'acme', 'https://acme.us.auth0.com/'],
    ['auth0', 'acme.eu', 'https://acme.eu.auth0.com/'],
    ['auth0', 'acme.eu.auth0.com', 'https://acme.eu.auth0.com/'],
    ['auth0', 'login.acme.com', 'https://login.acme.com/'],
    ['auth0', 'https://login.acme.com/', 'https://login.acme.com/'],
    ['other', 'https://id.acme.com/', 'https://id.acme.com/'],
    ['other', 'https://id.acme.com/.well-known/openid-configuration', 'https://id.acme.com'],
  ])('%s %s', (name, value, issuer) => {
    expect(issuerFrom(name, value, 'tenant')).toBe(issuer);
  });

  test.each<[ProviderName, string | undefined]>([
    ['entra', undefined],
    ['entra', 'common'],
    ['entra', 'Organizations'],
    ['entra', 'consumers'],
    ['entra', 'https://login.microsoftonline.com/common/v2.0'],
    ['entra', 'https://login.microsoftonline.com/'],
    ['entra', 'acme.onmicrosoft.com'],
    ['okta', 'acme okta'],
    ['okta', 'acme.okta.com/path'],
    ['keycloak', 'acme'],
    ['keycloak', 'https://id.acme.com/admin/acme/console/'],
    ['auth0', ''],
    ['other', 'id.acme.com'],
  ])('refuses %s %s, and names the field', (name, value) => {
    const refused = expect(() => issuerFrom(name, value, 'tenant'));
    refused.toThrow(Refusal);
    refused.toThrow(/^tenant: (must be|is required)/);
  });
});

test('every step of a provider names the redirect URI once', () => {
  for (const { steps } of Object.values(providers))
    expect(steps.filter((step) => step.includes('{redirectUri}'))).toHaveLength(1);
});

test('the steps of every SAML provider name the entity ID and the ACS URL', () => {
  for (const { steps } of Object.values(samlProviders))
    for (const name of ['{entityId}', '{acsUrl}']) expect(steps.join(' ')).toContain(name);
});

describe('the pages about providers (write them with: npm run guides)', () => {
  test.each(guidedProviders)('docs/providers/%s.md has the steps that the pages show', (name) => {
    const file = join(import.meta.dirname, `../../docs/providers/${name}.md`);
    expect(readFileSync(file, 'utf8')).toBe(guideOf(name));
  });

  test.each(guidedSamlProviders)('docs/providers/saml-%s.md has the same steps', (name) => {
    const file = join(import.meta.dirname, `../../docs/providers/saml-${name}.md`);
    expect(readFileSync(file, 'utf8')).toBe(samlGuideOf(name));
  });
});

test('docs/saml.md says what every reason of a SAML provider means', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const [, types = ''] = read('src/reasons.ts').split("Why a SAML provider's metadata");
  const [lists = ''] = types.split('Why the mail server');
  const reasons = [...lists.matchAll(/'([a-z_]+)'/g)].map(([, reason]) => reason);
  expect(reasons.length).toBeGreaterThan(50);
  const page = read('docs/saml.md');
  expect(reasons.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
});
