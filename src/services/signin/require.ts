import type { Context } from '../../context.ts';
import type { SignInMethod } from '../../database/models/session.ts';
import { Refusal } from '../../errors.ts';
import { domainOf } from '../domains/canonical.ts';
import { isClaimed } from '../domains/owns.ts';
import { isAllowed } from './allowed.ts';
import { findGoverningDomain, findGoverningSettings } from './governing.ts';
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
  method: SignInMethod,
): Promise<void> {
  const name = names[method];
  // Single sign-on and directories are switched by their own `enabled`; the operator's link and a proof by mail, never.
  if (name === undefined) return;
  if (isAllowed(await findGoverningSettings(ctx, email), method)) return;
  const methods = await findMethods(ctx, email === null ? '' : domainOf(email));
  throw new Refusal('signin_method_off', `Signing in with ${name} is switched off for this address.`, {
    hint:
      methods.length === 0
        ? 'Ask your administrator: no other way to sign in is set up.'
        : `Sign in another way: ${methods.join(', ')}.`,
    extra: { methods },
  });
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
