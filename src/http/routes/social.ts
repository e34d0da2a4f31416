import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { signedInView } from '../../services/people/sessions/schema.ts';
import { finishSocial } from '../../services/signin/flow.ts';
import {
  startLinking,
  startSocial,
  startSocialInput,
} from '../../services/signin/methods/social.ts';
import {
  listSocial,
  noSocialInput,
  socialList,
  unlinkSocial,
} from '../../services/signin/methods/social-links.ts';
import { callbackInput, startView } from '../../services/signin/redirect/state.ts';
import {
  providerNames,
  socialProviders,
} from '../../services/tenancy/identities/social-providers.ts';
import { flowCookie, sessionCookies } from '../cookies.ts';
import { routeTo } from '../route.ts';

type Start = z.output<typeof startSocialInput>;
type Finish = z.output<typeof callbackInput>;

/** Signing in with Google and GitHub (spec §5.4). */
export const socialRoutes = [
  routeTo('me.see', 'GET', '/api/v1/me/social', {
    summary: 'The social providers that you can sign in with',
    input: noSocialInput,
    output: socialList,
    run: listSocial,
  }),
  ...socialProviders.flatMap((provider) => [
    routeTo('public', 'GET', `/auth/social/${provider}/start`, {
      summary: `Begin a sign-in with ${providerNames[provider]}, if the instance offers it`,
      input: startSocialInput,
      output: startView,
      filled: { flow: { cookie: 'social_flow' } },
      cookies: (view) => [flowCookie('social_flow', view)],
      redirect: { to: (view) => view.authorizationUrl },
      run: (ctx: Context, input: Start) => startSocial(ctx, provider, input),
    }),
    routeTo('public', 'GET', `/auth/social/${provider}/callback`, {
      summary: `Finish a sign-in: the redirect back from ${providerNames[provider]}`,
      optionalActor: true,
      lenientQuery: true,
      input: callbackInput,
      output: signedInView,
      filled: { flow: { cookie: 'social_flow' }, fromBrowser: 'fetchMetadata' },
      cookies: sessionCookies,
      redirect: { to: (view) => view.returnTo },
      run: (ctx: Context, input: Finish) => finishSocial(ctx, provider, input),
    }),
    routeTo('me.credentials', 'POST', `/api/v1/me/social/${provider}`, {
      summary: `Begin to link a ${providerNames[provider]} account to your account`,
      input: startSocialInput,
      output: startView,
      filled: { flow: { cookie: 'social_flow' } },
      cookies: (view) => [flowCookie('social_flow', view)],
      run: (ctx: Context, input: Start) => startLinking(ctx, provider, input),
    }),
    routeTo('me.credentials', 'DELETE', `/api/v1/me/social/${provider}`, {
      summary: `Unlink a ${providerNames[provider]} account from your account, and end the sessions that began with it`,
      input: noSocialInput,
      output: unlinkSocial.output,
      run: (ctx: Context) => unlinkSocial(ctx, { provider }),
    }),
  ]),
];
