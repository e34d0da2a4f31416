import { explain } from '../../services/signin/explain/operations.ts';
import { findShutOut } from '../../services/signin/shut-out.ts';
import { listMethods } from '../../services/tenancy/signin-settings/methods.ts';
import {
  changeSignInSettings,
  saveSignInSettings,
  showReach,
  showSignInSettings,
} from '../../services/tenancy/signin-settings/operations.ts';
import { findPeopleShutOut } from '../../services/tenancy/signin-settings/people-shut-out.ts';
import { route } from '../route.ts';

/** The sign-in settings of an organization, and the methods for an address (spec §2.9). */
export const signInRoutes = [
  route('GET', '/api/v1/auth/methods', listMethods, {
    summary: 'The sign-in methods for an address or a domain, whether or not the account exists',
  }),
  route('GET', '/api/v1/orgs/:org/signin-settings', showSignInSettings, {
    summary: 'The sign-in settings',
    cli: 'signin show',
  }),
  route('PUT', '/api/v1/orgs/:org/signin-settings', saveSignInSettings, {
    summary:
      "Set the sign-in settings; an absent setting gets the instance's default. If there are several organizations, they apply only to addresses on verified domains",
    dryRun: true,
    cli: 'signin set',
  }),
  route('PATCH', '/api/v1/orgs/:org/signin-settings', changeSignInSettings, {
    summary: 'Change the given sign-in settings; the others stay as they are',
    dryRun: true,
    cli: 'signin set',
  }),
  route('GET', '/api/v1/orgs/:org/signin-settings/reach', showReach, {
    summary: 'Whether the sign-in settings apply to any address',
    cli: 'signin show',
  }),
  route('POST', '/api/v1/orgs/:org/signin-settings/shut-out', findShutOut, {
    summary: 'The owners who could not sign in after a given change; changes nothing',
    cli: 'domain remove',
  }),
  route('POST', '/api/v1/orgs/:org/signin-settings/people-shut-out', findPeopleShutOut, {
    summary:
      'The members who would have no way to sign in after a change of the settings; changes nothing',
    cli: 'signin set',
  }),
  route('GET', '/api/v1/orgs/:org/explain', explain, {
    summary: 'Explain how a person could sign in now, and what blocks the sign-in',
    cli: 'explain',
  }),
];
