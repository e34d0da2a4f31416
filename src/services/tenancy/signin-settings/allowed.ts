import type { SignInMethod } from '../../../database/models/session.ts';
import type { Governing } from './governing.ts';

/** Whether the settings allow the method; a method without a setting cannot be switched off. */
export function isMethodAllowed({ settings, verified }: Governing, method: SignInMethod): boolean {
  switch (method) {
    case 'password':
    case 'magicCode':
      return settings[method];
    case 'google':
    case 'github':
      // If no domain is verified, none is allowed (security O2).
      return settings[method] && (verified || !settings.restrictOauthToVerifiedDomains);
    default:
      return true;
  }
}
