import type { SettingWords } from '../../foundation/setting-words.ts';

/** The words for the sign-in settings of an organization. */
export const signInWords = {
  password: {
    label: 'Password',
    about: 'Whether people sign in with e-mail address and password.',
    options: { '--password <on|off>': 'e-mail and password' },
  },
  passkey: {
    label: 'Passkey',
    about: 'Whether people sign in with a passkey. If absent, `password` decides.',
    options: { '--passkey <on|off>': 'a passkey (default: as --password)' },
  },
  magicCode: {
    label: 'Magic code',
    about: 'Whether people sign in with a code by mail.',
    options: { '--magic-code <on|off>': 'a code by mail' },
  },
  google: {
    label: 'Google',
    about: 'Whether people sign in with Google, if the instance offers it.',
    options: { '--google <on|off>': 'Google, if set up in the instance' },
  },
  github: {
    label: 'GitHub',
    about: 'Whether people sign in with GitHub, if the instance offers it.',
    options: { '--github <on|off>': 'GitHub, if set up in the instance' },
  },
  allowSelfSignup: {
    label: 'Allow self-signup',
    about: 'Whether people create an account without an invitation.',
    options: { '--allow-self-signup <on|off>': 'sign-up without an invitation' },
  },
  restrictOauthToVerifiedDomains: {
    label: 'Restrict OAuth to verified domains',
    about: 'Whether Google and GitHub sign in only people whose address is on a verified domain.',
    options: {
      '--restrict-oauth-to-verified-domains <how>': 'on or off, as explained above',
    },
  },
} satisfies Record<string, SettingWords>;
