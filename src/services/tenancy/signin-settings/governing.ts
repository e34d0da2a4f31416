import type { Context } from '../../../context.ts';
import type { SignInMethod } from '../../../database/models/session.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { readGoverning, readGoverningAmong } from './governing.sql.ts';

/** The sign-in settings of spec §2.9, in its order, and `passkey`. */
export const settingNames = [
  'password',
  'passkey',
  'magicCode',
  'google',
  'github',
  'allowSelfSignup',
  'restrictOauthToVerifiedDomains',
] as const;

type SettingName = (typeof settingNames)[number];

/** The sign-in settings that apply: each from the organization, or else from the instance. */
export type SignInRules = Record<SettingName, boolean>;

/** The settings that an organization has set. */
export type Choices = Partial<SignInRules>;

/** The settings as stored: null if not set. */
type Stored = Record<SettingName, boolean | null>;

/** The instance's settings, overridden by stored ones. An invalid value is off (security O2). */
export function settingsOf(
  { config }: Pick<Context, 'config'>,
  stored: Partial<Stored> = {},
): SignInRules {
  const hold = (name: SettingName) => stored[name] ?? config.signin[name] === 'on';
  return {
    password: hold('password'),
    // The organization's `passkey` decides, or else its `password`. If it set neither, the
    // instance's `passkey` decides, or else its `password`.
    passkey: hold(isPasskeySet(config, stored) ? 'passkey' : 'password'),
    magicCode: hold('magicCode'),
    google: hold('google'),
    github: hold('github'),
    allowSelfSignup: hold('allowSelfSignup'),
    restrictOauthToVerifiedDomains: hold('restrictOauthToVerifiedDomains'),
  };
}

/** Whether a `passkey` setting decides about passkeys, and not a `password` setting. */
function isPasskeySet({ signin }: Context['config'], stored: Partial<Stored>): boolean {
  if ((stored.passkey ?? null) !== null) return true;
  return (stored.password ?? null) === null && signin.passkey !== undefined;
}

/** The organization whose settings govern an e-mail domain, and the settings (security O1). */
export interface Governing {
  /** Null if the instance's defaults govern. */
  organizationId: string | null;
  /** Whether that organization has verified the domain. */
  verified: boolean;
  settings: SignInRules;
}

/**
 * The settings that govern an address. The organization that has verified its domain decides.
 * Otherwise the only organization decides, if only the operator may create organizations. Otherwise
 * the instance's settings apply. Memberships do not matter.
 */
export function findGoverningSettings(ctx: Context, email: string | null): Promise<Governing> {
  return findGoverningDomain(ctx, email === null ? '' : domainOf(email));
}

/** Like `findGoverningSettings`, for a canonical e-mail domain; '' for no domain. */
export async function findGoverningDomain(ctx: Context, domain: string): Promise<Governing> {
  return governingOf(ctx, await readGoverning(domain, ctx.config.orgs.creation));
}

/** `findGoverningDomain` for many domains, by domain. */
export async function findGoverningDomains(
  ctx: Context,
  domains: string[],
): Promise<Map<string, Governing>> {
  const rows = await readGoverningAmong(domains, ctx.config.orgs.creation);
  return new Map(rows.map((row) => [row.domain, governingOf(ctx, row)]));
}

function governingOf(ctx: Context, row: Awaited<ReturnType<typeof readGoverning>>): Governing {
  return { organizationId: row.id, verified: row.owner !== null, settings: settingsOf(ctx, row) };
}

/** Whether the settings allow the method; a method without a setting cannot be switched off. */
export function isMethodAllowed({ settings, verified }: Governing, method: SignInMethod): boolean {
  switch (method) {
    case 'password':
    case 'passkey':
    case 'magicCode':
      return settings[method];
    case 'google':
    case 'github':
      // The restriction allows only addresses on verified domains (security O2).
      return settings[method] && (verified || !settings.restrictOauthToVerifiedDomains);
    default:
      return true;
  }
}
