import { signedInView } from '../../services/people/sessions/schema.ts';
import { signInByLdap } from '../../services/signin/flow.ts';
import { testLdap } from '../../services/signin/methods/ldap/test.ts';
import { relinkLdap } from '../../services/tenancy/ldap/relink.ts';
import { removeLdap } from '../../services/tenancy/ldap/remove.ts';
import { saveLdap } from '../../services/tenancy/ldap/save.ts';
import {
  ldapRefInput,
  ldapRelinkedView,
  ldapView,
  saveLdapInput,
  signInByLdapInput,
  testLdapInput,
  testLdapView,
} from '../../services/tenancy/ldap/schema.ts';
import { showLdap } from '../../services/tenancy/ldap/show.ts';
import { sessionCookies } from '../cookies.ts';
import { route } from '../route.ts';

/** Sign-in by an organization's directory: the connection, and signing in (spec §2.5, §4.2). */
export const ldapRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/ldap',
    summary: 'The LDAP connection, without its password',
    access: 'ldap.see',
    input: ldapRefInput,
    output: ldapView,
    cli: 'ldap show',
    run: showLdap,
  }),
  route({
    method: 'PUT',
    path: '/api/v1/orgs/:org/ldap',
    summary: 'Save the LDAP connection; a blank bind password keeps the stored one',
    access: 'ldap.change',
    input: saveLdapInput,
    output: ldapView,
    cli: 'ldap set',
    run: saveLdap,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/ldap',
    summary: 'Remove the LDAP connection and end the sessions that came through it',
    access: 'ldap.change',
    input: ldapRefInput,
    cli: 'ldap remove',
    run: removeLdap,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/ldap/test',
    summary: 'Look at the directory step by step; fields given stand in for those stored',
    access: 'ldap.test',
    input: testLdapInput,
    output: testLdapView,
    cli: 'ldap test',
    run: testLdap,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/ldap/relink',
    summary: 'After a change of directory: link people anew at their next sign-in',
    access: 'ldap.relink',
    input: ldapRefInput,
    output: ldapRelinkedView,
    cli: 'ldap relink',
    run: relinkLdap,
  }),
  route({
    method: 'POST',
    path: '/auth/ldap/login',
    summary: "Sign in with the user name and password of an organization's directory",
    access: 'public',
    input: signInByLdapInput,
    output: signedInView,
    cookies: sessionCookies,
    run: signInByLdap,
  }),
];
