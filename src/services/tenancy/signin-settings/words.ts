import type { SettingWords } from '../../foundation/setting-words.ts';

const onOff = { true: 'On', false: 'Off' };

/** The words for the sign-in settings of an organization. */
export const signInWords = {
  password: {
    label: 'Password',
    about: 'Whether people sign in with e-mail address and password.',
    options: { '--password <on|off>': 'e-mail and password' },
    page: {
      label: 'Password',
      about: 'People sign in with their e-mail address and a password.',
      values: onOff,
    },
  },
  passkey: {
    label: 'Passkey',
    about: 'Whether people sign in with a passkey. If absent, `password` decides.',
    options: { '--passkey <on|off>': 'a passkey (default: as --password)' },
    page: {
      label: 'Passkey',
      about: 'People sign in with a fingerprint, a face or a screen lock, without a password.',
      values: onOff,
    },
  },
  magicCode: {
    label: 'Magic code',
    about: 'Whether people sign in with a code by mail.',
    options: { '--magic-code <on|off>': 'a code by mail' },
    page: {
      label: 'Code by mail',
      about: 'People get a mail with a code, and sign in with it.',
      values: onOff,
    },
  },
  google: {
    label: 'Google',
    about: 'Whether people sign in with Google, if the instance offers it.',
    options: { '--google <on|off>': 'Google, if set up in the instance' },
    page: {
      label: 'Google',
      about: 'People sign in with their Google account.',
      values: onOff,
    },
  },
  github: {
    label: 'GitHub',
    about: 'Whether people sign in with GitHub, if the instance offers it.',
    options: { '--github <on|off>': 'GitHub, if set up in the instance' },
    page: {
      label: 'GitHub',
      about: 'People sign in with their GitHub account.',
      values: onOff,
    },
  },
  allowSelfSignup: {
    label: 'Allow self-signup',
    about: 'Whether people create an account without an invitation.',
    options: { '--allow-self-signup <on|off>': 'sign-up without an invitation' },
    page: {
      label: 'Sign-up without an invitation',
      about: 'People create an account themselves, and become members.',
      values: onOff,
    },
  },
  restrictOauthToVerifiedDomains: {
    label: 'Restrict OAuth to verified domains',
    about: 'Whether Google and GitHub sign in only people whose address is on a verified domain.',
    options: {
      '--restrict-oauth-to-verified-domains <how>': 'on or off, as explained above',
    },
    page: {
      label: 'Google and GitHub for your domains only',
      about: 'A Google or GitHub account signs in only if its address is on a verified domain.',
      values: onOff,
    },
  },
} satisfies Record<string, SettingWords>;
