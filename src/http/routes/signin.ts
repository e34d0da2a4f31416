import { listMethods } from '../../services/tenancy/signin-settings/methods.ts';
import { saveSignInSettings } from '../../services/tenancy/signin-settings/save.ts';
import {
  listMethodsInput,
  methodsView,
  saveSignInSettingsInput,
  signInSettingsRefInput,
  signInSettingsView,
} from '../../services/tenancy/signin-settings/schema.ts';
import { showSignInSettings } from '../../services/tenancy/signin-settings/show.ts';
import { route } from '../route.ts';

/** How people of an organization may sign in, and what is offered to whom (spec §2.9). */
export const signInRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/auth/methods',
    summary: 'The ways to sign in for an address or a domain, whether or not there is such an account',
    access: 'public',
    input: listMethodsInput,
    output: methodsView,
    run: listMethods,
  }),
  route({
    method: 'GET',
    path: '/api/v1/orgs/:org/signin-settings',
    summary: 'The sign-in settings',
    access: 'signin.see',
    input: signInSettingsRefInput,
    output: signInSettingsView,
    cli: 'signin show',
    run: showSignInSettings,
  }),
  route({
    method: 'PUT',
    path: '/api/v1/orgs/:org/signin-settings',
    summary:
      "Set the sign-in settings; what is absent is the instance's default. Beside other organizations they hold for addresses on verified domains alone",
    access: 'signin.change',
    input: saveSignInSettingsInput,
    output: signInSettingsView,
    cli: 'signin set',
    run: saveSignInSettings,
  }),
];
