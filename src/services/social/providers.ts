import type { Context } from '../../context.ts';

/** The social identity providers (spec §1). */
export const socialProviders = ['google', 'github'] as const;
export type SocialProvider = (typeof socialProviders)[number];

/** How people call them. */
export const providerNames = { google: 'Google', github: 'GitHub' } as const satisfies Record<
  SocialProvider,
  string
>;

/** What the instance has registered at the provider; null where it has not, and the provider is not offered. */
export function findSocialClient(
  { config }: Pick<Context, 'config'>,
  provider: SocialProvider,
): { clientId: string; clientSecret: string } | null {
  const { clientId, clientSecret } = config.social[provider];
  return clientId === undefined || clientSecret === undefined ? null : { clientId, clientSecret };
}
