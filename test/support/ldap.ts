import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { type Operated, organization, verifiedDomain } from './builders.ts';
import type { Answer } from './http.ts';
import type { Idctl } from './idctl.ts';
import { directoryPassword, type Slapd, service, suffix } from './slapd.ts';

/** Settings with which a connection to this server works. */
export function settingsFor(slapd: Pick<Slapd, 'ldaps' | 'ca'>) {
  return {
    uri: slapd.ldaps,
    caCertificate: slapd.ca,
    ...service,
    searchBase: `ou=people,${suffix}`,
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
}

/** Creates an organization with a verified domain and an enabled connection with these settings. */
export async function joined(idctl: Operated, settings: Record<string, unknown>) {
  const org = await organization(idctl);
  const domain = await verifiedDomain(idctl, org.slug);
  await saveLdap(
    idctl.operator(),
    saveLdapInput.parse({ org: org.slug, enabled: true, ...settings }),
  );
  return { org, domain };
}

/** Signs in once, by default with the password of the test people. */
export function signInByLdap(
  idctl: Pick<Idctl, 'client'>,
  body: Record<string, unknown>,
  from?: Record<string, string>,
): Promise<Answer> {
  const client = idctl.client({ keepCookies: true });
  return client.post('/auth/ldap/login', { password: directoryPassword, ...body }, from);
}
