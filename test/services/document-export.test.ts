import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeDocument } from '../../src/cli/document-file.ts';
import { exportOrganization } from '../../src/services/provisioning/document/operations.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { foundCompany } from '../support/company.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['hooks.acme.test'] } });
  await foundCompany(idctl);
});
afterAll(() => idctl.close());

test('an export of an organization has a stable order, and no ids, times or secrets', async () => {
  await addDomain(idctl.operator(), { org: 'acme', domain: 'a.acme.test' });
  const text = await writeDocument(await exportOrganization(idctl.operator(), { org: 'acme' }));
  expect(
    text,
  ).toBe(`# yaml-language-server: $schema=${idctl.baseUrl}/api/v1/organization.schema.json
idctl: 1
organization:
  slug: acme
  name: Acme
domains:
  - {domain: a.acme.test}
  - {domain: acme.test}
sso:
  emailDomain: acme.test
  issuer: https://idp.acme.test
  clientId: c
  clientSecret: {unchanged: true}
ldap:
  uri: ldaps://ldap.acme.test
  bindDn: cn=idctl,dc=acme,dc=test
  bindPassword: {unchanged: true}
  searchBase: dc=acme,dc=test
  searchFilter: (uid={username})
  emailAttribute: mail
mappings:
  - {group: Staff, project: website, role: viewer}
projects:
  - slug: website
    name: Website
    members:
      - {email: pia@acme.test, role: admin}
      - {email: victim@acme.test, role: viewer}
members:
  - {email: adam@acme.test, role: admin}
  - {email: mia@acme.test, role: member}
  - {email: olga@acme.test, role: owner}
  - {email: pia@acme.test, role: member}
  - {email: victim@acme.test, role: admin}
signin: {}
webhooks:
  - url: https://hooks.acme.test/
    events: ["*"]
    enabled: true
clients:
  - name: Board
    redirectUris: [https://board.acme.test/]
  - name: Wiki
    redirectUris: [https://wiki.acme.test/]
`);
});
