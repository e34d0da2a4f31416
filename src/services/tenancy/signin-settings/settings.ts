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

/** The sign-in settings that apply: those an organization leaves open are the instance's. */
export type SignInRules = Record<SettingName, boolean>;

/** The settings that an organization has set. */
export type Choices = Partial<SignInRules>;

/** The same as stored: an open setting is null, and SQLite stores booleans as 0 and 1. */
export type Stored = Record<SettingName, boolean | number | null>;

/**
 * The settings of the instance, overridden by those that an organization has stored; any other
 * stored value is off (security O2).
 */
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
