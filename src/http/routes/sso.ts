import { signedInView } from '../../services/people/sessions/schema.ts';
import { listAttempts } from '../../services/signin/attempts/list.ts';
import { attemptPage, listAttemptsInput } from '../../services/signin/attempts/schema.ts';
import { finishSso } from '../../services/signin/flow.ts';
import { startSso } from '../../services/signin/methods/sso/start.ts';
import { callbackInput, startSsoInput, startView } from '../../services/signin/redirect/schema.ts';
import { relinkSso } from '../../services/tenancy/sso/relink.ts';
import { removeSso } from '../../services/tenancy/sso/remove.ts';
import { saveSso } from '../../services/tenancy/sso/save.ts';
import {
  relinkSsoInput,
  saveSsoInput,
  ssoRefInput,
  ssoRelinkedView,
  ssoView,
  testSsoInput,
  testSsoView,
} from '../../services/tenancy/sso/schema.ts';
import { showSso } from '../../services/tenancy/sso/show.ts';
import { testSso } from '../../services/tenancy/sso/test.ts';
import { sessionCookies } from '../cookies.ts';
import { route } from '../route.ts';

/** Single sign-on: the connection, and the two public steps of signing in (spec §2.2, §4.1). */
export const ssoRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/sso',
    summary: 'The connection, without its secret',
    access: 'sso.see',
    input: ssoRefInput,
    output: ssoView,
    cli: 'sso show',
    run: showSso,
  }),
  route({
    method: 'PUT',
    path: '/api/v1/orgs/:org/sso',
    summary: 'Save the connection; a blank secret keeps the stored one',
    access: 'sso.change',
    input: saveSsoInput,
    output: ssoView,
    cli: 'sso set',
    run: saveSso,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/orgs/:org/sso',
    summary: 'Remove the connection and end the sessions that came through it',
    access: 'sso.change',
    input: ssoRefInput,
    cli: 'sso remove',
    run: removeSso,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/sso/test',
    summary: 'Look at the provider step by step; fields given stand in for those stored',
    access: 'sso.test',
    input: testSsoInput,
    output: testSsoView,
    cli: 'sso test',
    run: testSso,
  }),
  route({
    method: 'POST',
    path: '/api/v1/orgs/:org/sso/relink',
    summary: 'After a change of provider: link people anew at their next sign-in',
    access: 'sso.relink',
    input: relinkSsoInput,
    output: ssoRelinkedView,
    cli: 'sso relink',
    run: relinkSso,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/sso/attempts',
    summary: 'The last sign-ins through the connection, newest first; kept 7 days',
    access: 'sso.see',
    input: listAttemptsInput,
    output: attemptPage,
    cli: 'sso attempts',
    run: listAttempts,
  }),
  route({
    method: 'GET',
    path: '/auth/sso/start',
    summary: "Begin a sign-in: the provider's address for an e-mail domain",
    access: 'public',
    input: startSsoInput,
    output: startView,
    filled: { flow: { cookie: 'sso_flow' } },
    cookies: ({ flow, flowExpiresIn }) => [{ name: 'sso_flow', value: flow, maxAge: flowExpiresIn }],
    redirect: { to: (view) => view.authorizationUrl },
    run: startSso,
  }),
  route({
    method: 'GET',
    path: '/auth/sso/callback',
    summary: 'Finish a sign-in: where the provider sends the person back',
    access: 'public',
    lenientQuery: true,
    input: callbackInput,
    output: signedInView,
    filled: { flow: { cookie: 'sso_flow' }, fromBrowser: 'fetchMetadata' },
    cookies: sessionCookies,
    redirect: { to: (view) => view.returnTo },
    run: finishSso,
  }),
];
