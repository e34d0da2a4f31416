import { z } from 'zod';
import {
  type ConnectionKindName,
  connectionKindNames,
  connectionKinds,
  isConnectionKind,
} from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { Origin } from '../../../database/models/membership.ts';
import { Organization } from '../../../database/models/organization.ts';
import type { SignInMethod } from '../../../database/models/session.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { canonicalEmail, domainOf } from '../../foundation/domain-names/canonical.ts';
import { isClaimed, ownsAddress } from '../../foundation/domain-names/owns.ts';
import { domain, isUuid } from '../../foundation/fields.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { operation } from '../../foundation/operation.ts';
import { findPasskeyObstacle } from '../../people/passkeys/relying-party.ts';
import { findUsable } from '../connections/usable.ts';
import {
  findSocialClient,
  providerNames,
  socialProviders,
} from '../identities/social-providers.ts';
import type { signInByLdapInput } from '../ldap/schema.ts';
import { ensureMember } from '../memberships/join-and-leave.ts';
import { isRemoved } from '../memberships/removed.ts';
import {
  findGoverningDomain,
  findGoverningSettings,
  type Governing,
  isMethodAllowed,
} from './governing.ts';

/** The ways to sign in that settings and connections control, in the order they are shown. */
export const offeredMethod = z.enum([
  'password',
  'passkey',
  'magicCode',
  ...connectionKindNames,
  'google',
  'github',
]);
export type Offered = z.output<typeof offeredMethod>;

/** The methods that settings switch on and off. */
export const switchedMethods = ['password', 'passkey', 'magicCode', ...socialProviders] as const;
type Switched = (typeof switchedMethods)[number];

/** Lists the ways to sign in for a domain, without any fact about accounts (interface page). */
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
    return {
      methods,
      ...(methods.includes(connectionKinds.sso.name) ? { sso: { startUrl } } : {}),
    };
  },
});

/** The ways to sign in for a canonical e-mail domain, in the order they are shown. */
export async function findMethods(ctx: Context, domain: string): Promise<Offered[]> {
  const governing = await findGoverningDomain(ctx, domain);
  const isOffered = (method: Switched) =>
    isMethodAllowed(governing, method) && findObstacle(ctx, method) === null;
  const connections: Record<ConnectionKindName, boolean> = {
    sso: await hasSso(ctx, domain),
    ldap: (await findDirectory(governing.organizationId)) !== null,
  };
  const offered: [Offered, boolean][] = [
    ['password', isOffered('password')],
    ['passkey', isOffered('passkey')],
    ['magicCode', isOffered('magicCode')],
    ...connectionKindNames.map((one): [Offered, boolean] => [one, connections[one]]),
    ...socialProviders.map((one): [Offered, boolean] => [one, isOffered(one)]),
  ];
  return offered.filter(([, is]) => is).map(([method]) => method);
}

/** Why the instance cannot offer a method, whatever the settings say; null if it can. */
export function findObstacle(ctx: Pick<Context, 'config'>, method: Switched): string | null {
  switch (method) {
    case 'password':
      return null;
    case 'passkey':
      return findPasskeyObstacle(ctx) && 'Passkeys need https and a host name (baseUrl).';
    case 'magicCode':
      return isMailConfigured(ctx) ? null : 'The instance does not send mail (mail.smtpUrl).';
    case 'google':
    case 'github':
      if (findSocialClient(ctx, method) !== null) return null;
      return `${providerNames[method]} is not set up (social.${method}).`;
  }
}

/** Whether single sign-on is offered for the e-mail domain. */
export async function hasSso(ctx: Context, emailDomain: string): Promise<boolean> {
  return (await findUsable(ctx, emailDomain)) !== null;
}

const names: Partial<Record<SignInMethod, string>> = {
  password: 'a password',
  passkey: 'a passkey',
  magicCode: 'a code by mail',
  google: 'Google',
  github: 'GitHub',
};

function inWords(method: Offered): string {
  return isConnectionKind(method) ? connectionKinds[method].way : (names[method] ?? method);
}

/**
 * The refusal `signin_method_off`, with the methods to use instead, if the governing settings
 * forbid this method (security O1). Call it only after the person has proved that the account is
 * theirs.
 */
export async function findMethodRefusal(
  ctx: Context,
  { email }: { email: string | null },
  { method, provenEmail = null }: { method: SignInMethod; provenEmail?: string | null },
): Promise<Refusal | null> {
  const name = names[method];
  // Connections have their own `enabled`; a login link and a mail proof cannot be switched off.
  if (name === undefined) return null;
  const governing = await findGoverningSettings(ctx, email);
  const allowed = isMethodAllowed(governing, method);
  if (allowed && (await passesRestriction(governing, method, provenEmail))) return null;
  const methods = await findMethods(ctx, email === null ? '' : domainOf(email));
  const message = allowed
    ? `${name} has not verified an address of your organization.`
    : `Signing in with ${name} is switched off for this address.`;
  const others =
    methods.length === 0
      ? 'Ask your administrator: no other way to sign in is set up.'
      : `Sign in another way: ${methods.map(inWords).join(', ')}.`;
  const hint = allowed
    ? `Use a ${name} account with such an address, or sign in another way.`
    : others;
  return new Refusal('signin_method_off', message, { hint, extra: { methods } });
}

/**
 * Whether a restriction to verified domains allows this sign-in. The address that the provider
 * gives now must belong to the organization: the key may be linked to any address (security O2).
 */
async function passesRestriction(
  { organizationId, settings }: Governing,
  method: SignInMethod,
  provenEmail: string | null,
): Promise<boolean> {
  if (!settings.restrictOauthToVerifiedDomains || !isSocial(method)) return true;
  return organizationId !== null && (await ownsAddress(organizationId, provenEmail));
}

function isSocial(method: SignInMethod): boolean {
  return socialProviders.some((provider) => provider === method);
}

/**
 * Whether people on this domain may sign up by themselves. The organization that has verified the
 * domain decides. Otherwise the instance must be open, or the governing settings must allow it.
 */
export async function selfSignupAllowed(ctx: Context, domain: string): Promise<boolean> {
  const { verified, settings } = await findGoverningDomain(ctx, domain);
  if (verified) return settings.allowSelfSignup;
  // With `trust.domains: off` a connection claims its domain, and has no such setting.
  if (await isClaimed(domain)) return false;
  return ctx.config.signup.open === 'on' || settings.allowSelfSignup;
}

/**
 * Makes a person with a newly verified address a member of the domain's organization, if it allows
 * self-signup and has not removed this person (security I5). Call it inside a transaction.
 */
export async function joinByDomain(ctx: Context, account: Account, origin: Origin): Promise<void> {
  const { organizationId, verified, settings } = await findGoverningSettings(ctx, account.email);
  if (organizationId === null || !verified || !settings.allowSelfSignup) return;
  if (await isRemoved(ctx, organizationId, account)) return;
  await ensureMember(ctx, organizationId, account, origin);
}

/**
 * Chooses the one directory to query, before any packet (security L1). It belongs to the named
 * organization, or else to the organization that governs the address. Refuses if neither is known.
 */
export async function chooseDirectory(
  ctx: Context,
  { org, username }: Pick<z.output<typeof signInByLdapInput>, 'org' | 'username'>,
): Promise<LdapConnection | null> {
  if (org !== undefined) return findDirectory(await organizationIdOf(org));
  const { organizationId } = await findGoverningSettings(ctx, canonicalEmail(username));
  if (organizationId !== null) return findDirectory(organizationId);
  const hint = 'Name the organization, or use an address on its verified domain.';
  throw refuseField('org', 'is required', hint);
}

async function findDirectory(organizationId: string | null): Promise<LdapConnection | null> {
  if (organizationId === null) return null;
  return LdapConnection.findOne({ where: { organizationId, enabled: true } });
}

/**
 * The organization whose directory a page offers to an e-mail domain ('' for none), or null. Only
 * the directory of a verified domain may replace the password form (security L1).
 */
export async function describeDirectory(
  ctx: Context,
  domain: string,
): Promise<{ name: string; verified: boolean } | null> {
  const { organizationId, verified } = await findGoverningDomain(ctx, domain);
  const connection = await findDirectory(organizationId);
  if (connection === null) return null;
  const { name } = await Organization.findByPk(connection.organizationId, { rejectOnEmpty: true });
  return { name, verified };
}

async function organizationIdOf(org: string): Promise<string | null> {
  if (isUuid(org)) return org.toLowerCase();
  const found = /^[a-z0-9-]+$/.test(org)
    ? await Organization.findOne({ where: { slug: org } })
    : null;
  return found?.id ?? null;
}
