import type { Context } from '../../../context.ts';
import type { Limit } from './limit.ts';
import { clientLimit } from './password.ts';

/** The limits of an attempt with a directory password: by user name and client (security L8). */
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
  return { name, of, apart, max: config.limits.ldapFailures, seconds: 900 };
}

/**
 * Like `directoryLimits`, plus a limit for the tester across organizations: a person can create
 * many organizations.
 */
export function testedLimits(ctx: Context, username: string, organizationId: string): Limit[] {
  return [...ownLimits(ctx, 'ldap person'), ...directoryLimits(ctx, username, organizationId)];
}

/**
 * The person's limit across organizations. All setup links of an organization share one. None for
 * the operator, who can read the passwords.
 */
function ownLimits(ctx: Context, name: string): Limit[] {
  if (ctx.actor.kind === 'setupLink') return [ldapLimit(ctx, name, ctx.actor.organizationId)];
  return ctx.actor.kind === 'user' ? [ldapLimit(ctx, name, ctx.actor.accountId)] : [];
}

/** The limit of one directory entry, whatever user name the person signs in with. */
export function entryLimit(
  ctx: Context,
  { issuer, subject }: { issuer: string; subject: string },
  organizationId: string,
): Limit {
  return ldapLimit(ctx, 'ldap entry', `${issuer} ${subject}`, organizationId);
}

/** The limit of bind attempts of an organization, for all accounts: a DN has many spellings. */
export function bindLimit(ctx: Context, organizationId: string): Limit {
  return ldapLimit(ctx, 'ldap bind', organizationId);
}

/** A stored bind password, and its connection. */
export interface StoredPassword {
  of: string;
  apart: string;
}

/**
 * The limits of an attempt with a bind password: one for the actor and one for the client. For the
 * operator, they are one for the organization and one for all organizations. A stored password also
 * has a limit, so that the directory does not lock the bind account.
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

/** The limit of refusals of a stored password by the directory. */
export function refusedBindLimit(ctx: Context, { of, apart }: StoredPassword): Limit {
  return ldapLimit(ctx, 'ldap bind refused', of, apart);
}

/**
 * The limit of the operator's refused binds. While it is full, `doctor` does not send a password.
 */
export function operatorBindLimit(ctx: Context, organizationId: string): Limit {
  return ldapLimit(ctx, 'ldap bind of operator', organizationId);
}

/** Like `operatorBindLimit`, for all organizations: one person can create many organizations. */
export function operatorBindsLimit(ctx: Context): Limit {
  const { addressFailures: max } = ctx.config.limits;
  return { name: 'ldap binds of operator', of: 'all', max, seconds: 900 };
}

/** Counts concurrent attempts with a stored password, which share one count. It is never full. */
export function sharedBindTries({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind shared', of, apart, max: 1_000_000_000, seconds: 900 };
}

/** A limit that is full, for up to a year, if the directory last accepted the stored password. */
export function acceptedBindMark({ of, apart }: StoredPassword): Limit {
  return { name: 'ldap bind password', of, apart, max: 1, seconds: 365 * 86_400 };
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
