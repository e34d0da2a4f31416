import type { Context } from '../../../context.ts';
import type { SignInMethod } from '../../../database/models/session.ts';
import { Refusal } from '../../../errors.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { isClaimed, ownsAddress } from '../../foundation/domain-names/owns.ts';
import { socialProviders } from '../identities/providers.ts';
import { isMethodAllowed } from './allowed.ts';
import { findGoverningDomain, findGoverningSettings, type Governing } from './governing.ts';
import { findMethods } from './methods.ts';

const names: Partial<Record<SignInMethod, string>> = {
  password: 'a password',
  magicCode: 'a code by mail',
  google: 'Google',
  github: 'GitHub',
};

/**
 * Refuses `signin_method_off`, with the methods there are instead, where the settings that govern the address do not
 * allow this one (security O1). Ask it only of somebody who has proved to be the account: it is no oracle then.
 */
export async function requireMethodAllowed(
  ctx: Context,
  { email }: { email: string | null },
  { method, provenEmail = null }: { method: SignInMethod; provenEmail?: string | null },
): Promise<void> {
  const name = names[method];
  // Single sign-on and directories are switched by their own `enabled`; the operator's link and a proof by mail, never.
  if (name === undefined) return;
  const governing = await findGoverningSettings(ctx, email);
  const allowed = isMethodAllowed(governing, method);
  if (allowed && (await passesRestriction(governing, method, provenEmail))) return;
  const methods = await findMethods(ctx, email === null ? '' : domainOf(email));
  if (allowed) {
    throw new Refusal(
      'signin_method_off',
      `${name} does not vouch for an address of your organization.`,
      {
        hint: `Use the ${name} account that has one, or sign in another way.`,
        extra: { methods },
      },
    );
  }
  throw new Refusal(
    'signin_method_off',
    `Signing in with ${name} is switched off for this address.`,
    {
      hint:
        methods.length === 0
          ? 'Ask your administrator: no other way to sign in is set up.'
          : `Sign in another way: ${methods.join(', ')}.`,
      extra: { methods },
    },
  );
}

/**
 * Whether a restriction to verified domains lets this sign-in pass. What the provider says today must be an address of
 * the organization, not the account's alone: a key may have been bound to it whatever its address was (security O2).
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
 * Whether people with addresses on this canonical domain may sign up by themselves: where an organization has verified
 * it, by that one's settings; elsewhere where the instance is open, or the settings that govern say so.
 */
export async function selfSignupAllowed(ctx: Context, domain: string): Promise<boolean> {
  const { verified, settings } = await findGoverningDomain(ctx, domain);
  if (verified) return settings.allowSelfSignup;
  // Without verified domains (`trust.domains: off`) a connection speaks for its domain, and has no such setting.
  if (await isClaimed(domain)) return false;
  return ctx.config.signup.open === 'on' || settings.allowSelfSignup;
}
