import type { SignInMethod } from '../../../database/models/session.ts';
import type { Governing } from './governing.ts';

/** Whether people may sign in by the method; what no setting speaks of is not theirs to switch off. */
export function isMethodAllowed({ settings, verified }: Governing, method: SignInMethod): boolean {
  switch (method) {
    case 'password':
    case 'magicCode':
      return settings[method];
    case 'google':
    case 'github':
      // With none verified, none is allowed (security O2).
      return settings[method] && (verified || !settings.restrictOauthToVerifiedDomains);
    default:
      return true;
  }
}
