import type { Context } from '../../../context.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import type { SsoConnection } from '../../../database/models/sso-connection.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { findPasskeyObstacle } from '../../people/passkeys/relying-party.ts';
import { isApproved } from '../connections/approval.ts';
import { findUsableAmong } from '../connections/usable.ts';
import { findSocialClient, socialProviders } from '../identities/social-providers.ts';
import {
  findGoverningDomains,
  type Governing,
  isMethodAllowed,
  type SignInRules,
} from './governing.ts';
import { type Holding, readHolding } from './holdings.sql.ts';

// A way to sign in counts only if it is known to lead to the account:
// - a password that is set or can be set by mail, or a mailed code;
// - a passkey that does not need a password;
// - a linked Google or GitHub, unless restricted to verified domains: its address may change;
// - single sign-on for the address, or a directory for the address or linked to the account. An
//   owner needs the approval of the connection (security I8).

/** What decides about the ways to sign in for an e-mail domain. */
export interface Reach {
  governing: Governing;
  /** The connections that sign in any address on the domain. */
  connections: (SsoConnection | LdapConnection)[];
}

/** What decides for a canonical e-mail domain; '' for no domain. */
export async function findReach(ctx: Context, domain: string): Promise<Reach> {
  return (await findReaches(ctx, [domain]))(domain);
}

/** `findReach` for many domains, in a few statements: returns a function of the domain. */
export async function findReaches(
  ctx: Context,
  domains: string[],
): Promise<(domain: string) => Reach> {
  const governing = await findGoverningDomains(ctx, [...new Set(domains)]);
  const sso = await findUsableAmong(
    ctx,
    [...governing.keys()].filter((domain) => domain !== ''),
  );
  const verifiers = [...governing.values()].flatMap(({ verified, organizationId }) =>
    verified && organizationId !== null ? [organizationId] : [],
  );
  const ldap = await findDirectories(verifiers);
  return (domain) => {
    const governs = governing.get(domain);
    if (governs === undefined) throw new Error('a domain was not asked for');
    const { organizationId, verified } = governs;
    const directory = verified ? ldap.get(organizationId) : undefined;
    const found = [sso.get(domain), directory].filter((one) => one !== undefined);
    return { governing: governs, connections: found };
  };
}

/** The enabled directories of the organizations, by organization. */
async function findDirectories(organizationId: string[]) {
  const found =
    organizationId.length === 0
      ? []
      : await LdapConnection.findAll({ where: { organizationId, enabled: true } });
  return new Map<string | null, LdapConnection>(found.map((one) => [one.organizationId, one]));
}

/** Settings that an organization may save. */
export interface Planned {
  organizationId: string;
  settings: SignInRules;
}

/** The reach as if the settings were saved: they count only where the organization's govern. */
export function planFor(reach: Reach, { organizationId, settings }: Planned): Reach {
  if (reach.governing.organizationId !== organizationId) return reach;
  return { ...reach, governing: { ...reach.governing, settings } };
}

/**
 * Whether the account has a way to sign in. With `without`, as if this passkey, or all, were
 * removed; with `planned`, as if these settings were saved.
 */
export async function hasWayIn(
  ctx: Context,
  { id }: { id: string },
  { without, planned }: { without?: string | 'all'; planned?: Planned } = {},
): Promise<boolean> {
  const holding = await readHolding(id, without === 'all' ? undefined : without);
  if (holding === null) return false;
  const passkey = holding.passkey && without !== 'all';
  const reach = await findReach(ctx, domainFor(holding));
  return isWayIn(ctx, { ...holding, passkey }, planned ? planFor(reach, planned) : reach);
}

/** The canonical domain of the account's address; '' without an address. */
export function domainFor({ email }: Pick<Holding, 'email'>): string {
  return email === null ? '' : domainOf(email);
}

/** Whether what the account has leads in, by these settings and connections. */
export function isWayIn(
  ctx: Context,
  holding: Holding,
  { governing, connections }: Reach,
): boolean {
  const mailed = isMailConfigured(ctx) && holding.email !== null;
  if (isMethodAllowed(governing, 'password') && (holding.password || mailed)) return true;
  if (isMethodAllowed(governing, 'magicCode') && mailed) return true;
  const passkeys = isMethodAllowed(governing, 'passkey') && findPasskeyObstacle(ctx) === null;
  if (passkeys && holding.passkey) return true;
  if (hasSocial(ctx, governing, holding)) return true;
  if (holding.approvedDirectory || connections.some(isApproved)) return true;
  // An unapproved connection does not sign an owner in, whatever the organization (security I8).
  return !holding.owns && (holding.directory || connections.length > 0);
}

function hasSocial(ctx: Context, governing: Governing, holding: Holding): boolean {
  if (governing.settings.restrictOauthToVerifiedDomains) return false;
  return socialProviders.some(
    (provider) =>
      holding[provider] &&
      isMethodAllowed(governing, provider) &&
      findSocialClient(ctx, provider) !== null,
  );
}
