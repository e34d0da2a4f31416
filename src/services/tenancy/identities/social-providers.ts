import type { Context } from '../../../context.ts';
import { Refusal } from '../../../errors.ts';

/** The social identity providers (spec §1). */
export const socialProviders = ['google', 'github'] as const;
export type SocialProvider = (typeof socialProviders)[number];

/** The names of the social providers, as people know them. */
export const providerNames = { google: 'Google', github: 'GitHub' } as const satisfies Record<
  SocialProvider,
  string
>;

/** The client registered at the provider; null if none is configured. */
export function findSocialClient({ config }: Pick<Context, 'config'>, provider: SocialProvider) {
  const { clientId, clientSecret } = config.social[provider];
  if (clientId === undefined || clientSecret === undefined) return null;
  return {
    provider,
    issuer:
      provider === 'google'
        ? config.social.google.issuer
        : config.social.github.baseUrl.replace(/\/$/, ''),
    clientId,
    clientSecret,
    redirectUri: `${config.baseUrl}/auth/social/${provider}/callback`,
  };
}

/** Like `findSocialClient`, but refuses with `social_not_configured`. */
export function requireSocialClient(ctx: Context, provider: SocialProvider) {
  const client = findSocialClient(ctx, provider);
  if (client !== null) return client;
  throw new Refusal(
    'social_not_configured',
    `Signing in with ${providerNames[provider]} is not set up.`,
    { hint: 'Sign in another way, or ask your administrator to set it up.' },
  );
}
