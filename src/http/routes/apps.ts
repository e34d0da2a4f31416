import { appView } from '../../services/people/apps/app.ts';
import { viewMetadata } from '../../services/people/apps/metadata.ts';
import { introspectToken, mintToken, revokeBotToken } from '../../services/people/apps/oauth.ts';
import {
  changeApp,
  listApps,
  regenerateApp,
  registerApp,
  revokeApp,
} from '../../services/people/apps/operations.ts';
import { route, routeTo } from '../route.ts';

/** OAuth apps, and the requests that apps send themselves (spec §2.8, §4.4). */
export const appRoutes = [
  route('GET', '/api/v1/me/apps', listApps, {
    summary: 'Your apps, without their secrets',
    cli: 'app list',
  }),
  route('POST', '/api/v1/me/apps', registerApp, {
    summary: 'Register an app that acts as you; its secret is shown only once',
    dryRun: true,
    status: 201,
    cli: 'app create',
  }),
  // The operation also checks `me.credentials`.
  routeTo('apps.introspect', 'PATCH', '/api/v1/me/apps/:id', {
    summary:
      "Name the organization whose members' tokens your app may introspect; you must be its admin",
    dryRun: true,
    input: changeApp.input,
    output: appView,
    cli: 'app set',
    run: changeApp,
  }),
  route('POST', '/api/v1/me/apps/:id/regenerate', regenerateApp, {
    summary:
      'Give an app a new secret, shown only once; the old secret and its tokens stop immediately',
    dryRun: true,
    cli: 'app regenerate',
  }),
  route('DELETE', '/api/v1/me/apps/:id', revokeApp, {
    summary: 'Revoke an app for good, and its tokens unless you keep them',
    cli: 'app revoke',
  }),
  route('POST', '/api/v1/oauth/token', mintToken, {
    summary: 'Mint a token that acts as the owner of the app (RFC 6749 §4.4)',
    speaks: 'oauth',
  }),
  route('POST', '/api/v1/oauth/introspect', introspectToken, {
    summary: "Describe a token of a member of the app's organization (RFC 7662)",
    speaks: 'oauth',
  }),
  route('POST', '/api/v1/oauth/revoke', revokeBotToken, {
    summary: "Revoke one of the app's own tokens; an unknown token also gets 200 (RFC 7009)",
    speaks: 'oauth',
  }),
  route('GET', '/.well-known/oauth-authorization-server', viewMetadata, {
    summary: 'The endpoints for apps and clients (RFC 8414)',
  }),
  route('GET', '/.well-known/openid-configuration', viewMetadata, {
    summary: 'The same document, for applications that sign people in (OpenID Connect Discovery)',
  }),
];
