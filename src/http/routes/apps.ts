import { changeApp } from '../../services/people/apps/change.ts';
import { introspectToken } from '../../services/people/apps/introspect.ts';
import { listApps } from '../../services/people/apps/list.ts';
import { viewMetadata } from '../../services/people/apps/metadata.ts';
import { mintToken } from '../../services/people/apps/mint.ts';
import { regenerateApp } from '../../services/people/apps/regenerate.ts';
import { registerApp } from '../../services/people/apps/register.ts';
import { revokeApp } from '../../services/people/apps/revoke.ts';
import { revokeBotToken } from '../../services/people/apps/revoke-token.ts';
import {
  appPage,
  appView,
  changeOwnAppInput,
  introspectionView,
  introspectTokenInput,
  listOwnAppsInput,
  metadataInput,
  metadataView,
  mintedView,
  mintTokenInput,
  newAppView,
  nothingView,
  ownAppInput,
  registerOwnAppInput,
  revokeBotTokenInput,
  revokeOwnAppInput,
} from '../../services/people/apps/schema.ts';
import { route } from '../route.ts';

/** OAuth apps, and what they ask by themselves (spec §2.8, §4.4). */
export const appRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/me/apps',
    summary: 'Your apps, without their secrets',
    access: 'me.see',
    input: listOwnAppsInput,
    output: appPage,
    cli: 'app list',
    run: listApps,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/apps',
    summary: 'Register an app that acts as you; its secret is shown this once',
    access: 'me.credentials',
    input: registerOwnAppInput,
    output: newAppView,
    status: 201,
    cli: 'app register',
    run: registerApp,
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/me/apps/:id',
    summary: 'Name the organization about whose tokens an app of yours may ask; you are an admin there',
    access: 'apps.introspect',
    input: changeOwnAppInput,
    output: appView,
    cli: 'app set',
    run: changeApp,
  }),
  route({
    method: 'POST',
    path: '/api/v1/me/apps/:id/regenerate',
    summary: 'Give an app a new secret, shown this once; the old one and its tokens stop at once',
    access: 'me.credentials',
    input: ownAppInput,
    output: newAppView,
    cli: 'app regenerate',
    run: regenerateApp,
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/me/apps/:id',
    summary: 'Revoke an app for good, and its tokens unless they are to be kept',
    access: 'me.credentials',
    input: revokeOwnAppInput,
    cli: 'app revoke',
    run: revokeApp,
  }),
  route({
    method: 'POST',
    path: '/api/v1/oauth/token',
    summary: 'Mint a token that acts as the owner of the app (RFC 6749 §4.4)',
    access: 'public',
    speaks: 'oauth',
    input: mintTokenInput,
    output: mintedView,
    run: mintToken,
  }),
  route({
    method: 'POST',
    path: '/api/v1/oauth/introspect',
    summary: "What a token of a member of the app's organization is worth now (RFC 7662)",
    access: 'public',
    speaks: 'oauth',
    input: introspectTokenInput,
    output: introspectionView,
    run: introspectToken,
  }),
  route({
    method: 'POST',
    path: '/api/v1/oauth/revoke',
    summary: "End a token of the app's own; 200 for every other too (RFC 7009)",
    access: 'public',
    speaks: 'oauth',
    input: revokeBotTokenInput,
    output: nothingView,
    run: revokeBotToken,
  }),
  route({
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Where apps get and give back their tokens (RFC 8414)',
    access: 'public',
    input: metadataInput,
    output: metadataView,
    run: viewMetadata,
  }),
];
