import type { Context } from '../../../context.ts';
import type { Limit } from './limit.ts';
import { clientLimit } from './password.ts';

/** The limits of an attempt with a directory password: user name and client (security L8). */
export function directoryLimits(
  ctx: Context,
  username: string,
  organizationId: string | null,
): Limit[] {
  return [nameLimit(ctx, username, organizationId), clientLimit(ctx)];
}

/** The limit of one user name in the directory of an organization. */
export function nameLimit(ctx: Context, username: string, organizationId: string | null): Limit {
  return ldapLimit(ctx, 'ldap', canonicalUser(username), organizationId ?? 'nowhere');
}

function ldapLimit({ config }: Context, name: string, of: string, apart = ''): Limit {
  return { name, of, apart, most: config.limits.ldapFailures, seconds: 900 };
}

/** Like `directoryLimits`, plus one for the tester, who could make an organization per guess. */
export function testedLimits(ctx: Context, username: string, organizationId: string): Limit[] {
  return [...ownLimits(ctx, 'ldap person'), ...directoryLimits(ctx, username, organizationId)];
}

/**
 * The limit of a person across organizations. None for the operator, who can read the passwords.
 */
function ownLimits(ctx: Context, name: string): Limit[] {
  return ctx.actor.kind === 'user' ? [ldapLimit(ctx, name, ctx.actor.accountId)] : [];
}

/** The limit of one directory entry, because a person may sign in to it under several names. */
export function entryLimit(
  ctx: Context,
  { issuer, subject }: { issuer: string; subject: string },
  organizationId: string,
): Limit {
  return ldapLimit(ctx, 'ldap entry', `${issuer} ${subject}`, organizationId);
}

/** How many bind passwords an organization may try, for any account: names have many spellings. */
export function bindLimit(ctx: Context, organizationId: string): Limit {
  return ldapLimit(ctx, 'ldap bind', organizationId);
}

/** A stored bind password, and its connection. */
export interface StoredPassword {
  of: string;
  apart: string;
}

/**
 * The limits of an attempt with a bind password: of the actor and the client. For the operator: of
 * the organization, and of all. A stored password also has a limit, so that the directory does not
 * lock the bind account.
 */
export function bindTryLimits(
  ctx: Context,
  organizationId: string,
  stored: StoredPassword | null,
): Limit[] {
  const refused = stored === null ? [] : [refusedBindLimit(ctx, stored)];
  if (ctx.actor.kind === 'operator')
    return [...refused, operatorBindLimit(ctx, organizationId), operatorBindsLimit(ctx)];
  return [...refused, ...ownLimits(ctx, 'ldap bind'), clientLimit(ctx)];
}

/** How often a directory may refuse a stored password. */
export function refusedBindLimit(ctx: Context, { of, apart }: StoredPassword): Limit {
  return ldapLimit(ctx, 'ldap bind refused', of, apart);
}

/** How often a directory may refuse the operator before doctor pauses its bind for a while. */
export function operatorBindLimit(ctx: Context, organizationId: string): Limit {
  return ldapLimit(ctx, 'ldap bind of operator', organizationId);
}

/** Like `operatorBindLimit`, over all organizations: one person can make many organizations. */
export function operatorBindsLimit(ctx: Context): Limit {
  const { addressFailures: most } = ctx.config.limits;
  return { name: 'ldap binds of operator', of: 'all', most, seconds: 900 };
}

/** Counts the concurrent attempts with a stored password that count as one. It is never full. */
export function sharedBindTries({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind shared', of, apart, most: 1_000_000_000, seconds: 900 };
}

/** A limit that is full for a year if the directory last accepted the stored bind password. */
export function acceptedBindMark({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind password', of, apart, most: 1, seconds: 365 * 86_400 };
}

/**
 * The common form of all spellings of a user name that some directory treats as equal. Two people
 * whose names differ only in case, width, accents or spaces share a limit.
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
