import { z } from 'zod';
import { signedInView } from '../../services/people/sessions/schema.ts';
import { listAttempts } from '../../services/signin/attempts.ts';
import { finishSaml, finishSso } from '../../services/signin/flow.ts';
import {
  continueInput,
  samlAnswerInput,
  takeSamlAnswer,
} from '../../services/signin/methods/saml.ts';
import { startSso } from '../../services/signin/methods/sso.ts';
import { callbackInput, startSsoInput, startView } from '../../services/signin/redirect/state.ts';
import {
  approveSso,
  changeSso,
  disableSso,
  enableSso,
  removeSso,
  saveSso,
  showSso,
} from '../../services/tenancy/sso/operations.ts';
import { showOurMetadata } from '../../services/tenancy/sso/our-party.ts';
import { refreshSso } from '../../services/tenancy/sso/refresh.ts';
import { relinkSso } from '../../services/tenancy/sso/relink.ts';
import { testSso } from '../../services/tenancy/sso/test.ts';
import { bodyOfSaml } from '../body/limits.ts';
import { flowCookie, sessionCookies } from '../cookies.ts';
import { route, routeTo } from '../route.ts';

/** Single sign-on: the connection, and the two public steps of signing in (spec §2.2, §4.1). */
export const ssoRoutes = [
  route('GET', '/api/v1/orgs/:org/sso', showSso, {
    summary: 'The connection, without its secret',
    cli: 'sso show',
  }),
  route('PUT', '/api/v1/orgs/:org/sso', saveSso, {
    summary: 'Save the connection; a blank secret keeps the stored one',
    body: bodyOfSaml,
    dryRun: true,
    cli: 'sso set',
  }),
  route('PATCH', '/api/v1/orgs/:org/sso', changeSso, {
    summary: 'Change the given settings of the connection, or create it',
    body: bodyOfSaml,
    dryRun: true,
    cli: 'sso set',
  }),
  route('POST', '/api/v1/orgs/:org/sso/enable', enableSso, {
    summary: 'Let people sign in through the connection; its domain must be verified',
    dryRun: true,
    cli: 'sso enable',
  }),
  route('POST', '/api/v1/orgs/:org/sso/disable', disableSso, {
    summary: 'Stop new sign-ins through the connection; the connection and sessions stay',
    dryRun: true,
    cli: 'sso disable',
  }),
  route('POST', '/api/v1/orgs/:org/sso/approve', approveSso, {
    summary: 'Approve where the connection points, so that owners can sign in through it',
    dryRun: true,
    cli: 'sso approve',
  }),
  route('DELETE', '/api/v1/orgs/:org/sso', removeSso, {
    summary: 'Remove the connection and end the sessions that began through it',
    cli: 'sso remove',
  }),
  route('POST', '/api/v1/orgs/:org/sso/test', testSso, {
    summary: 'Test the provider step by step; given fields replace the stored ones',
    body: bodyOfSaml,
    cli: 'sso test',
  }),
  route('POST', '/api/v1/orgs/:org/sso/refresh', refreshSso, {
    summary: 'Read the metadata of a SAML provider again, at its URL',
    dryRun: true,
    cli: 'sso refresh',
  }),
  route('POST', '/api/v1/orgs/:org/sso/relink', relinkSso, {
    summary: 'After a change of provider, link people again at their next sign-in',
    dryRun: true,
    cli: 'sso relink',
  }),
  route('GET', '/api/v1/orgs/:org/sso/attempts', listAttempts, {
    summary: 'The last sign-in attempts through the connection, newest first; kept for 7 days',
    cli: 'sso attempts',
  }),
  route('GET', '/auth/saml/:org/metadata', showOurMetadata, {
    summary: 'The metadata of idctl, which a SAML provider of the organization reads',
    type: 'application/samlmetadata+xml',
  }),
  routeTo('public', 'POST', '/auth/saml/:org/acs', {
    summary: "Take the answer of a SAML provider, which the person's browser posts",
    crossSiteForm: true,
    body: bodyOfSaml,
    input: samlAnswerInput,
    output: z.object({ continueAt: z.string() }),
    redirect: { to: (view) => view.continueAt, always: true },
    run: takeSamlAnswer,
  }),
  routeTo('public', 'GET', '/auth/saml/:org/continue', {
    summary: 'Finish a sign-in by SAML, in the browser in which it began',
    input: continueInput,
    output: signedInView,
    filled: { flow: { cookie: 'sso_flow' } },
    cookies: sessionCookies,
    redirect: { to: (view) => view.returnTo },
    run: finishSaml,
  }),
  routeTo('public', 'GET', '/auth/sso/start', {
    summary: "Begin a sign-in: the provider's address for an e-mail domain",
    input: startSsoInput,
    output: startView,
    filled: { flow: { cookie: 'sso_flow' } },
    cookies: (view) => [flowCookie('sso_flow', view)],
    redirect: { to: (view) => view.authorizationUrl },
    run: startSso,
  }),
  routeTo('public', 'GET', '/auth/sso/callback', {
    summary: 'Finish a sign-in: the redirect back from the provider',
    lenientQuery: true,
    input: callbackInput,
    output: signedInView,
    filled: { flow: { cookie: 'sso_flow' }, fromBrowser: 'fetchMetadata' },
    cookies: sessionCookies,
    redirect: { to: (view) => view.returnTo },
    run: finishSso,
  }),
];
