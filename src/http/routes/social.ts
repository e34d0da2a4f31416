import { z } from 'zod';
import type { Context } from '../../context.ts';
import { signedInView } from '../../services/people/sessions/schema.ts';
import { finishSocial } from '../../services/signin/flow.ts';
import {
  listSocial,
  noSocialInput,
  socialList,
  startLinking,
  startSocial,
  startSocialInput,
  unlinkSocial,
} from '../../services/signin/methods/social.ts';
import { callbackInput, startView } from '../../services/signin/redirect/state.ts';
import { providerNames, socialProviders } from '../../services/tenancy/identities/providers.ts';
import { type CookieChange, sessionCookies } from '../cookies.ts';
import { route } from '../route.ts';

type Start = z.output<typeof startSocialInput>;
type Finish = z.output<typeof callbackInput>;

const flowCookie = ({
  flow,
  flowExpiresIn,
}: {
  flow: string;
  flowExpiresIn: number;
}): CookieChange[] => [{ name: 'social_flow', value: flow, maxAge: flowExpiresIn }];

const listRoute = route({
  method: 'GET',
  path: '/api/v1/me/social',
  summary: 'The social providers that you can sign in with',
  access: 'me.see',
  input: noSocialInput,
  output: socialList,
  run: listSocial,
});

const providerRoutes = socialProviders.flatMap((provider) => [
  route({
    method: 'GET',
    path: `/auth/social/${provider}/start`,
    summary: `Begin a sign-in with ${providerNames[provider]}, if the instance offers it`,
    access: 'public',
    input: startSocialInput,
    output: startView,
    filled: { flow: { cookie: 'social_flow' } },
    cookies: flowCookie,
    redirect: { to: (view) => view.authorizationUrl },
    run: (ctx: Context, input: Start) => startSocial(ctx, provider, input),
  }),
  route({
    method: 'GET',
    path: `/auth/social/${provider}/callback`,
    summary: `Finish a sign-in: the redirect back from ${providerNames[provider]}`,
    access: 'public',
    optionalActor: true,
    lenientQuery: true,
    input: callbackInput,
    output: signedInView,
    filled: { flow: { cookie: 'social_flow' }, fromBrowser: 'fetchMetadata' },
    cookies: sessionCookies,
    redirect: { to: (view) => view.returnTo },
    run: (ctx: Context, input: Finish) => finishSocial(ctx, provider, input),
  }),
  route({
    method: 'POST',
    path: `/api/v1/me/social/${provider}`,
    summary: `Begin to link a ${providerNames[provider]} account to your account`,
    access: 'me.credentials',
    input: startSocialInput,
    output: startView,
    filled: { flow: { cookie: 'social_flow' } },
    cookies: flowCookie,
    run: (ctx: Context, input: Start) => startLinking(ctx, provider, input),
  }),
  route({
    method: 'DELETE',
    path: `/api/v1/me/social/${provider}`,
    summary: `Unlink a ${providerNames[provider]} account from your account, and end the sessions that began with it`,
    access: 'me.credentials',
    input: noSocialInput,
    output: z.object({ provider: z.enum(socialProviders) }),
    run: (ctx: Context) => unlinkSocial(ctx, provider),
  }),
]);

/** Signing in with Google and GitHub (spec §5.4). */
export const socialRoutes = [listRoute, ...providerRoutes];
