import type { SignInMethod } from '../../../database/models/session.ts';

/** The names of the sign-in methods for people. */
export const methodNames: Record<SignInMethod, string> & Record<string, string | undefined> = {
  password: 'password',
  passkey: 'passkey',
  sso: 'single sign-on',
  ldap: 'directory',
  magicCode: 'code by mail',
  google: 'Google',
  github: 'GitHub',
  loginLink: 'one-time link',
  verification: 'confirmed address',
};
