import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateCertifiedKey } from '../../src/crypto/certificate.ts';
import { verifiedDomain } from '../support/builders.ts';
import { serve } from '../support/fake-server.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';
import { providerMetadata, signInBySaml } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';
import { registration } from '../support/sso.ts';
import { team } from '../support/team.ts';

// The pages on which an organization connects a SAML provider.

let idctl: Idctl;
let metadata: string;
/** A sign-in URL that can be reached. */
let ssoUrl: string;
beforeAll(async () => {
  idctl = await openIdctl({
    limits: { enabled: 'off' },
    outbound: { allow: ['127.0.0.1'] },
  });
  ssoUrl = `${idctl.baseUrl}/provider`;
  metadata = providerMetadata((await samlProvider()).key.certificate, { ssoUrl });
});
afterAll(() => idctl?.close());

/** A team with a verified domain, and the paths of its pages. */
async function organized() {
  const { org, clients } = await team(idctl);
  const emailDomain = await verifiedDomain(idctl, org.slug);
  const at = `/orgs/${org.slug}/sign-in/sso`;
  const read = async () => (await clients.owner.get(`/api/v1/orgs/${org.slug}/sso`)).body;
  return { org, clients, emailDomain, at, read };
}

const oidc = { provider: 'other', providerValue: 'https://idp.example.test', ...registration };

describe('the connection to a SAML provider', () => {
  test('an owner chooses SAML, pastes the metadata, tests and switches on, and a person signs in', async () => {
    const { org, clients, emailDomain, at } = await organized();
    const kinds = await open(clients.owner, at);
    expect(kinds.text).toContain('How does your provider sign people in? OpenID Connect');
    expect(kinds.body).toContain(`href="${at}/saml"`);
    const choose = await open(clients.owner, `${at}/saml`);
    expect(choose.text).toContain(
      'Microsoft Entra ID Okta Google Workspace AD FS Keycloak Another',
    );
    const asks = await open(clients.owner, `${at}/saml?provider=google`);
    const ours = `${idctl.baseUrl}/auth/saml/${org.id}`;
    for (const [label, value] of [
      ['Entity ID', `${ours}/metadata`],
      ['ACS URL', `${ours}/acs`],
      ['Metadata URL', `${ours}/metadata`],
    ])
      expect(asks.text).toContain(`${label} ${value} `);
    const given = { metadataXml: metadata, emailDomain, groupsAttribute: 'teams' };
    const saved = await asks.submit(`${at}/saml`, given);
    expect(saved.text).toContain('The connection was saved.');
    for (const said of [
      'Entity ID https://idp.example.test/saml',
      `Sign-in URL ${ssoUrl}`,
      'Metadata given as text',
      'Groups attribute teams',
      'E-mail attribute the usual ones',
      `ACS URL ${ours}/acs`,
    ])
      expect(saved.text).toContain(said);
    expect(saved.text).toMatch(/Certificate [0-9A-F:]{95} Valid until \d/);
    expect((await saved.submit(`${at}/test`)).text).toContain(
      `registration not checked Enter at the provider: the entity ID ${ours}/metadata and the ACS URL ${ours}/acs.`,
    );
    expect((await saved.submit(`${at}/enable`)).text).toContain('The connection is on.');
    const person = { email: `ada@${emailDomain}`, subject: 'ada' };
    const signed = await signInBySaml(idctl, { org, domain: emailDomain }, person);
    expect(signed.answer.status).toBe(200);
    expect((await open(clients.owner, at)).text).toContain(`ada@${emailDomain} signed in`);
  });

  test('S11 its form takes metadata of 512 KiB, and other forms do not', async () => {
    const { clients, emailDomain, at, read } = await organized();
    const asks = await open(clients.owner, `${at}/saml?provider=other`);
    const long = metadata.replace(
      /\s*<\/IDPSSODescriptor>/,
      (end) => `${' '.repeat(400_000)}${end}`,
    );
    expect((await asks.submit(`${at}/saml`, { metadataXml: long, emailDomain })).status).toBe(200);
    expect(await read()).toMatchObject({ kind: 'saml' });
    const larger = await asks.submit(`${at}/saml`, {
      metadataXml: ' '.repeat(1024 * 1024),
      emailDomain,
    });
    expect(larger.status).toBe(413);
    const form = await open(clients.owner, `${at}/set?provider=other`);
    const clientId = 'x'.repeat(200_000);
    expect((await form.submit(`${at}/set`, { ...oidc, clientId })).status).toBe(413);
  });

  test('reads metadata at a URL, keeps it in the form, and keeps what was typed after a refusal', async () => {
    const { clients, emailDomain, at, read } = await organized();
    const { url } = await serve((_request, response) => void response.end(metadata));
    const asks = await open(clients.owner, `${at}/saml?provider=okta`);
    const cases: [Record<string, string>, string][] = [
      [{}, 'Metadata URL is required, unless you paste the metadata.'],
      [{ metadataUrl: 'ftp://a.test' }, 'Metadata URL must be an https:// URL.'],
      [
        { metadataUrl: url, metadataXml: metadata },
        'Metadata as text cannot be combined with the URL.',
      ],
      [{ metadataXml: '<no/>' }, 'Metadata as text could not be used: it does not describe'],
      [{ metadataUrl: url, emailAttribute: '  ' }, 'E-mail attribute must not consist of spaces.'],
    ];
    for (const [given, said] of cases) {
      const typed = { emailDomain, subjectAttribute: 'uid', ...given };
      const refused = await asks.submit(`${at}/saml`, typed);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(said)]);
      expect(refused.body).toContain('value="uid"');
      expect(refused.body.match(/aria-invalid/g)).toHaveLength(1);
      expect(refused.text).toContain('At Okta');
      if (given['metadataXml'] === '<no/>')
        expect(refused.body).toContain('&lt;no/&gt;</textarea>');
    }
    const found = await asks.submit(`${at}/saml`, { emailDomain, metadataUrl: ` ${url} ` });
    expect(found.text).toContain('The connection was saved.');
    expect(await read()).toMatchObject({ metadataUrl: url, encryptAssertions: false });
    const change = await open(clients.owner, `${at}/saml`);
    expect(change.body).toContain(`value="${url}"`);
    const given = { emailAttribute: 'mail', encryptAssertions: 'true' };
    await change.submit(`${at}/saml`, { ...given, emailDomain });
    expect(await read()).toMatchObject({
      metadataUrl: url,
      emailAttribute: 'mail',
      encryptAssertions: true,
    });
    // An attribute that was emptied is read by the usual names again.
    await change.submit(`${at}/saml`, { emailDomain, metadataUrl: '', metadataXml: metadata });
    expect(await read()).toMatchObject({ metadataUrl: null, emailAttribute: null });
    // Without URL and text, the stored text stays.
    const kept = await open(clients.owner, `${at}/saml`);
    await kept.submit(`${at}/saml`, { emailDomain, groupsAttribute: 'teams' });
    expect(await read()).toMatchObject({ metadataUrl: null, groupsAttribute: 'teams' });
  });

  test('a change of the protocol says first what it replaces, in both directions', async () => {
    const { clients, emailDomain, at, read } = await organized();
    const form = await open(clients.owner, `${at}/set?provider=other`);
    await form.submit(`${at}/set`, { ...oidc, emailDomain });
    const stored = await open(clients.owner, at);
    expect(stored.text).toContain('Use SAML instead');
    const choose = await open(clients.owner, `${at}/saml`);
    expect(choose.text).toContain('This replaces the OpenID Connect connection');
    expect(choose.text).toContain('https://idp.example.test is deleted');
    // A form from before the connection existed does not say it, so it shows it first.
    const asks = await open(clients.owner, `${at}/saml?provider=other`);
    const given = { metadataXml: metadata, emailDomain };
    const unseen = await asks.submit(`${at}/saml`, { ...given, replaces: '' });
    expect(unseen.text).toContain('This replaces the OpenID Connect connection');
    expect(unseen.body).toContain('Replace the connection</button>');
    expect(unseen.body).toContain('&lt;EntityDescriptor');
    expect(await read()).toMatchObject({ kind: 'oidc' });
    const saved = await unseen.submit(`${at}/saml`, given);
    expect(saved.text).toContain('Protocol SAML');
    expect(await read()).toMatchObject({ kind: 'saml', emailDomain });
    const back = await open(clients.owner, `${at}/set?provider=other`);
    expect(back.text).toContain('This replaces the SAML connection');
    await back.submit(`${at}/set`, { ...oidc, emailDomain });
    expect(await read()).toMatchObject({ kind: 'oidc', issuer: 'https://idp.example.test' });
  });

  test('tests new metadata before it replaces that of a connection that is on', async () => {
    const { clients, emailDomain, at, read } = await organized();
    const asks = await open(clients.owner, `${at}/saml?provider=adfs`);
    const saved = await asks.submit(`${at}/saml`, { metadataXml: metadata, emailDomain });
    await saved.submit(`${at}/enable`);
    const change = await open(clients.owner, `${at}/saml`);
    const { key } = await samlProvider();
    const metadataXml = providerMetadata(key.certificate, {
      ssoUrl: 'https://idp.example.test/elsewhere',
    });
    const failed = await change.submit(`${at}/saml`, { metadataXml, emailDomain });
    expect(failed.text).toContain('Nothing was saved.');
    expect(failed.text).toContain('sign-in URL failed');
    expect(failed.body).toContain('Save anyway');
    expect(failed.body).toContain('idp.example.test/elsewhere');
    expect(await read()).toMatchObject({ enabled: true, ssoUrl });
  });

  test('names a certificate that has ended, which the provider still uses', async () => {
    const { clients, emailDomain, at } = await organized();
    const began = new Date('1990-01-01T00:00:00Z');
    const { certificate } = await generateCertifiedKey('old', began, 2048);
    const asks = await open(clients.owner, `${at}/saml?provider=other`);
    const metadataXml = providerMetadata(certificate, { ssoUrl });
    const saved = await asks.submit(`${at}/saml`, { metadataXml, emailDomain });
    expect(saved.text).toMatch(/Certificate [0-9A-F:]{95} Expired on \d/);
    const tested = await saved.submit(`${at}/test`);
    expect(tested.text).toMatch(/certificates open It names 1 certificate\. .* ended on/);
    expect(tested.text).toContain('Renew it at the provider');
  });

  test('I8 what an admin saves here waits for an owner', async () => {
    const { clients, emailDomain, at } = await organized();
    const asks = await open(clients.admin, `${at}/saml?provider=other`);
    const saved = await asks.submit(`${at}/saml`, { metadataXml: metadata, emailDomain });
    expect(saved.text).toContain('An owner has to approve this connection.');
    expect((await open(clients.owner, '/')).text).toContain('Connections to approve');
  });
});
