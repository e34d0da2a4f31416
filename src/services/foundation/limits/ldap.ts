import type { Context } from '../../../context.ts';
import type { Limit } from './limit.ts';
import { clientLimit } from './password.ts';

/** What a directory password costs to try: a place of the user name's in that organization, and one of the client's (security L8). */
export function directoryLimits(
  ctx: Context,
  username: string,
  organizationId: string | null,
): Limit[] {
  const { ldapFailures: most } = ctx.config.limits;
  const of = canonicalUser(username);
  const apart = organizationId ?? 'nowhere';
  return [{ name: 'ldap', of, apart, most, seconds: 900 }, clientLimit(ctx)];
}

/** As `directoryLimits`, for whoever tries it in a test: they may make an organization for each guess. */
export function testedLimits(ctx: Context, username: string, organizationId: string): Limit[] {
  return [...ownLimits(ctx, 'ldap person'), ...directoryLimits(ctx, username, organizationId)];
}

/** What one person may try, in whatever organization; the operator has the passwords anyway. */
function ownLimits({ actor, config }: Context, name: string): Limit[] {
  const { ldapFailures: most } = config.limits;
  return actor.kind === 'user' ? [{ name, of: actor.accountId, most, seconds: 900 }] : [];
}

/** What a password of one entry costs to try, whatever name found it: a person may have several, and directories their own idea of which are alike. */
export function entryLimit(
  ctx: Context,
  { issuer, subject }: { issuer: string; subject: string },
  organizationId: string,
): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return {
    name: 'ldap entry',
    of: `${issuer} ${subject}`,
    apart: organizationId,
    most,
    seconds: 900,
  };
}

/** What an organization may try of passwords for the account that searches, whatever its name: that has too many spellings. */
export function bindLimit(ctx: Context, organizationId: string): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind', of: organizationId, most, seconds: 900 };
}

/** A bind password as it is stored, and the connection that it is stored for. */
export interface StoredPassword {
  of: string;
  apart: string;
}

/**
 * What each try of a bind password costs, in whatever organization: a place of its actor and of their client, and of the
 * password itself if it is stored, so that no account is locked.
 */
export function bindTryLimits(
  ctx: Context,
  organizationId: string,
  stored: StoredPassword | null,
): Limit[] {
  const refused = stored === null ? [] : [storedBindLimit(ctx, stored)];
  if (ctx.actor.kind === 'operator')
    return [...refused, operatorBindLimit(ctx, organizationId), operatorBindsLimit(ctx)];
  return [...refused, ...ownLimits(ctx, 'ldap bind'), clientLimit(ctx)];
}

/** How often a directory refuses the operator's tries before doctor sends it no bind password for a while. */
export function operatorBindLimit(ctx: Context, organizationId: string): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind of operator', of: organizationId, most, seconds: 900 };
}

/** As `operatorBindLimit`, over all organizations: one person can make many, each with another guess for doctor to try. */
export function operatorBindsLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'ldap binds of operator', of: 'all', most, seconds: 900 };
}

/** How often one stored bind password is refused before it is not sent for a while. */
function storedBindLimit(ctx: Context, { of, apart }: StoredPassword): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind refused', of, apart, most, seconds: 900 };
}

/** Counts the tries of a stored password that share one place of the organization; it is never full. */
export function sharedBindTries({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind shared', of, apart, most: 1_000_000_000, seconds: 900 };
}

/** Full for a year while the directory's last answer to a stored bind password was yes. */
export function acceptedBindMark({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind password', of, apart, most: 1, seconds: 365 * 86_400 };
}

/**
 * What all spellings of a user name have in common that some directory takes for one: case, width, accents, invisible
 * characters and spaces. Two people whose names differ in no more share their tries.
 */
export function canonicalUser(username: string): string {
  return username
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}
