import { signedInView } from '../../services/people/sessions/schema.ts';
import { signInByLdap } from '../../services/signin/flow.ts';
import { testLdap } from '../../services/signin/methods/ldap/test.ts';
import {
  approveLdap,
  changeLdap,
  disableLdap,
  enableLdap,
  relinkLdap,
  removeLdap,
  saveLdap,
  showLdap,
} from '../../services/tenancy/ldap/operations.ts';
import { signInByLdapInput } from '../../services/tenancy/ldap/schema.ts';
import { sessionCookies } from '../cookies.ts';
import { route, routeTo } from '../route.ts';

/** Sign-in through an organization's directory, and its connection (spec §2.5, §4.2). */
export const ldapRoutes = [
  route('GET', '/api/v1/orgs/:org/ldap', showLdap, {
    summary: 'The LDAP connection, without its password',
    cli: 'ldap show',
  }),
  route('PUT', '/api/v1/orgs/:org/ldap', saveLdap, {
    summary: 'Save the LDAP connection; a blank bind password keeps the stored one',
    dryRun: true,
    cli: 'ldap set',
  }),
  route('PATCH', '/api/v1/orgs/:org/ldap', changeLdap, {
    summary: 'Change the given settings of the LDAP connection, or create it',
    dryRun: true,
    cli: 'ldap set',
  }),
  route('POST', '/api/v1/orgs/:org/ldap/enable', enableLdap, {
    summary: 'Let people sign in through the directory; needs a verified domain',
    dryRun: true,
    cli: 'ldap enable',
  }),
  route('POST', '/api/v1/orgs/:org/ldap/disable', disableLdap, {
    summary: 'Stop new sign-ins through the directory; the connection and sessions stay',
    dryRun: true,
    cli: 'ldap disable',
  }),
  route('POST', '/api/v1/orgs/:org/ldap/approve', approveLdap, {
    summary: 'Approve where the connection points, so that owners can sign in through it',
    dryRun: true,
    cli: 'ldap approve',
  }),
  route('DELETE', '/api/v1/orgs/:org/ldap', removeLdap, {
    summary: 'Remove the LDAP connection and end the sessions that began through it',
    cli: 'ldap remove',
  }),
  route('POST', '/api/v1/orgs/:org/ldap/test', testLdap, {
    summary: 'Test the directory step by step; given fields replace the stored ones',
    cli: 'ldap test',
  }),
  route('POST', '/api/v1/orgs/:org/ldap/relink', relinkLdap, {
    summary: 'After a change of directory, link people again at their next sign-in',
    dryRun: true,
    cli: 'ldap relink',
  }),
  routeTo('public', 'POST', '/auth/ldap/login', {
    summary: "Sign in with the user name and password of an organization's directory",
    input: signInByLdapInput,
    output: signedInView,
    filled: { browser: { cookie: 'passkey' } },
    cookies: sessionCookies,
    run: signInByLdap,
  }),
];
