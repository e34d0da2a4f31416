import { explain } from '../../services/signin/explain/operations.ts';
import { findShutOut } from '../../services/signin/shut-out.ts';
import { listMethods } from '../../services/tenancy/signin-settings/methods.ts';
import {
  changeSignInSettings,
  saveSignInSettings,
  showReach,
  showSignInSettings,
} from '../../services/tenancy/signin-settings/operations.ts';
import { route } from '../route.ts';

/** The sign-in settings of an organization, and the methods for an address (spec §2.9). */
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
    dryRun: true,
    cli: 'signin set',
  }),
  route('PATCH', '/api/v1/orgs/:org/signin-settings', changeSignInSettings, {
    summary: 'Change the given sign-in settings; the others stay as they are',
    dryRun: true,
    cli: 'signin set',
  }),
  route('GET', '/api/v1/orgs/:org/signin-settings/reach', showReach, {
    summary: 'Whether the sign-in settings govern any address',
    cli: 'signin show',
  }),
  route('POST', '/api/v1/orgs/:org/signin-settings/shut-out', findShutOut, {
    summary: 'The owners who could not sign in after a change; changes nothing',
    cli: 'domain remove',
  }),
  route('GET', '/api/v1/orgs/:org/explain', explain, {
    summary: 'Explain how a person could sign in now, and what keeps them out',
    cli: 'explain',
  }),
];
