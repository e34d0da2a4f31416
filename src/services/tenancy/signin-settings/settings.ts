import type { Context } from '../../../context.ts';

/** The sign-in settings, in the order of spec §2.9. */
export const settingNames = [
  'password',
  'magicCode',
  'google',
  'github',
  'allowSelfSignup',
  'restrictOauthToVerifiedDomains',
] as const;

type SettingName = (typeof settingNames)[number];

/** The sign-in settings as they hold: what an organization leaves open is the instance's. */
export type SignInRules = Record<SettingName, boolean>;

/** What an organization says of some of the settings. */
export type Choices = Partial<SignInRules>;

/** The same as it is stored; what is not said is null, and SQLite keeps booleans as 0 and 1. */
export type Stored = Record<SettingName, boolean | number | null>;

/** The settings of the instance, with what an organization has stored laid over them; what it stored otherwise is off (security O2). */
export function settingsOf(
  { config }: Pick<Context, 'config'>,
  stored: Partial<Stored> = {},
): SignInRules {
  const hold = (name: SettingName) => {
    const value = stored[name] ?? config.signin[name] === 'on';
    return value === true || value === 1;
  };
  return {
    password: hold('password'),
    magicCode: hold('magicCode'),
    google: hold('google'),
    github: hold('github'),
    allowSelfSignup: hold('allowSelfSignup'),
    restrictOauthToVerifiedDomains: hold('restrictOauthToVerifiedDomains'),
  };
}
