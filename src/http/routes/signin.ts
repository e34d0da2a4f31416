import { explain } from '../../services/signin/explain/operations.ts';
import { listMethods } from '../../services/tenancy/signin-settings/methods.ts';
import {
  saveSignInSettings,
  showSignInSettings,
} from '../../services/tenancy/signin-settings/operations.ts';
import { route } from '../route.ts';

/**
 * The sign-in settings of an organization, and the sign-in methods offered for an address (spec
 * §2.9).
 */
export const signInRoutes = [
  route('GET', '/api/v1/auth/methods', listMethods, {
    summary:
      'The ways to sign in for an address or a domain, whether or not there is such an account',
  }),
  route('GET', '/api/v1/orgs/:org/signin-settings', showSignInSettings, {
    summary: 'The sign-in settings',
    cli: 'signin show',
  }),
  route('PUT', '/api/v1/orgs/:org/signin-settings', saveSignInSettings, {
    summary:
      "Set the sign-in settings; an absent one gets the instance's default. Among several organizations they govern only addresses on verified domains",
    cli: 'signin set',
  }),
  route('GET', '/api/v1/orgs/:org/explain', explain, {
    summary: 'Explain how a person could sign in now, and what keeps them out',
    cli: 'explain',
  }),
];
