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
 * Refuses `signin_method_off`, with the methods to use instead, if the settings that govern the
 * address forbid this one (security O1). Call it only for a person who has proved to own the
 * account, so that it is no oracle.
 */
export async function requireMethodAllowed(
  ctx: Context,
  { email }: { email: string | null },
  { method, provenEmail = null }: { method: SignInMethod; provenEmail?: string | null },
): Promise<void> {
  const name = names[method];
  // Single sign-on and directories have their own `enabled`; the operator's link and a proof by
  // mail cannot be switched off.
  if (name === undefined) return;
  const governing = await findGoverningSettings(ctx, email);
  const allowed = isMethodAllowed(governing, method);
  if (allowed && (await passesRestriction(governing, method, provenEmail))) return;
  const methods = await findMethods(ctx, email === null ? '' : domainOf(email));
  if (allowed) {
    throw new Refusal(
      'signin_method_off',
      `${name} has not verified an address of your organization.`,
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
 * Whether a restriction to verified domains lets this sign-in pass. The provider's present address
 * must be the organization's; that of the account is not enough. A key may have been linked
 * whatever its address was (security O2).
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
 * Whether people on this canonical domain may sign up by themselves. If an organization has
 * verified the domain, its settings decide. Otherwise the instance must be open, or the governing
 * settings must allow it.
 */
export async function selfSignupAllowed(ctx: Context, domain: string): Promise<boolean> {
  const { verified, settings } = await findGoverningDomain(ctx, domain);
  if (verified) return settings.allowSelfSignup;
  // Without verified domains (`trust.domains: off`) a connection decides for its domain, and it
  // does not allow self-signup.
  if (await isClaimed(domain)) return false;
  return ctx.config.signup.open === 'on' || settings.allowSelfSignup;
}
