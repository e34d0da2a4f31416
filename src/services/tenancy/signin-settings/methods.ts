import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { domain } from '../../foundation/fields.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { operation } from '../../foundation/operation.ts';
import { findSocialClient, socialProviders } from '../identities/providers.ts';
import { isTrusted } from '../sso/trusted.ts';
import { isMethodAllowed } from './allowed.ts';
import { findDirectory } from './directory.ts';
import { findGoverningDomain } from './governing.ts';

/** A way to sign in that people are offered. */
const offeredMethod = z.enum(['password', 'magicCode', 'sso', 'ldap', 'google', 'github']);

type Offered = z.output<typeof offeredMethod>;

/**
 * Lists the ways to sign in for an address or a domain. Only the domain and the instance decide,
 * never whether the account exists (interface page).
 */
export const listMethods = operation({
  authority: 'public',
  // An address or a bare domain: only the domain counts.
  input: z.strictObject({ identifier: domain }),
  output: z.object({
    methods: z.array(offeredMethod),
    sso: z.object({ startUrl: z.string() }).optional(),
  }),
  run: async (ctx, { identifier: domain }) => {
    const methods = await findMethods(ctx, domain);
    const startUrl = `${ctx.config.baseUrl}/auth/sso/start?domain=${encodeURIComponent(domain)}`;
    return { methods, ...(methods.includes('sso') ? { sso: { startUrl } } : {}) };
  },
});

/** The ways to sign in for a canonical e-mail domain, in the order they are shown. */
export async function findMethods(ctx: Context, domain: string): Promise<Offered[]> {
  const governing = await findGoverningDomain(ctx, domain);
  const offered: [Offered, boolean][] = [
    ['password', isMethodAllowed(governing, 'password')],
    ['magicCode', isMethodAllowed(governing, 'magicCode') && isMailConfigured(ctx)],
    ['sso', await hasSso(ctx, domain)],
    ['ldap', (await findDirectory(governing.organizationId)) !== null],
    ...socialProviders.map((provider): [Offered, boolean] => [
      provider,
      isMethodAllowed(governing, provider) && findSocialClient(ctx, provider) !== null,
    ]),
  ];
  return offered.filter(([, is]) => is).map(([method]) => method);
}

/** Whether single sign-on is offered for the e-mail domain. */
export async function hasSso(ctx: Context, emailDomain: string): Promise<boolean> {
  const connection = await SsoConnection.findOne({ where: { emailDomain, enabled: true } });
  return connection !== null && isTrusted(ctx, connection);
}
