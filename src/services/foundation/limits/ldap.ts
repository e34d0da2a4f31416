import type { Context } from '../../../context.ts';
import type { Limit } from './limit.ts';
import { clientLimit } from './password.ts';

/**
 * The cost of trying a directory password (security L8): one try of the organization's user name,
 * and one of the client.
 */
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

/**
 * Like `directoryLimits`, plus limits of the person who tests: they may make an organization for
 * each guess.
 */
export function testedLimits(ctx: Context, username: string, organizationId: string): Limit[] {
  return [...ownLimits(ctx, 'ldap person'), ...directoryLimits(ctx, username, organizationId)];
}

/** How much one person may try over all organizations. The operator has the passwords anyway. */
function ownLimits({ actor, config }: Context, name: string): Limit[] {
  const { ldapFailures: most } = config.limits;
  return actor.kind === 'user' ? [{ name, of: actor.accountId, most, seconds: 900 }] : [];
}

/**
 * The limit of one entry's password, whatever name found it. A person may have several names, and
 * each directory decides which names are alike.
 */
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

/**
 * How many tries of its service account's password an organization has. They do not count by name,
 * because a name has too many spellings.
 */
export function bindLimit(ctx: Context, organizationId: string): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind', of: organizationId, most, seconds: 900 };
}

/** A stored bind password, and its connection. */
export interface StoredPassword {
  of: string;
  apart: string;
}

/**
 * The cost of each try of a bind password, in any organization: one try each of actor and client. A
 * stored password also costs one try of its own, so that no account is locked.
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

/**
 * How often a directory may refuse the operator's tries before doctor pauses sending its bind
 * password.
 */
export function operatorBindLimit(ctx: Context, organizationId: string): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind of operator', of: organizationId, most, seconds: 900 };
}

/**
 * Like `operatorBindLimit`, over all organizations: one person can make many, each with another
 * guess for doctor to try.
 */
export function operatorBindsLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'ldap binds of operator', of: 'all', most, seconds: 900 };
}

/** How often one stored bind password may be refused before it is not sent for a while. */
function storedBindLimit(ctx: Context, { of, apart }: StoredPassword): Limit {
  const { ldapFailures: most } = ctx.config.limits;
  return { name: 'ldap bind refused', of, apart, most, seconds: 900 };
}

/**
 * Counts the tries of a stored password that share one try of the organization. It is never full.
 */
export function sharedBindTries({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind shared', of, apart, most: 1_000_000_000, seconds: 900 };
}

/** Full, for a year, if the directory last accepted the stored bind password. */
export function acceptedBindMark({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind password', of, apart, most: 1, seconds: 365 * 86_400 };
}

/**
 * A form shared by all spellings of a user name that any directory treats as equal. It ignores
 * case, width, accents, invisible characters and spaces. Two people whose names differ only in
 * these share their tries.
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
