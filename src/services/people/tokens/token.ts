import { Op } from 'sequelize';
import { z } from 'zod';
import { factorKinds } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { AccessToken, tokenKinds, tokenScopes } from '../../../database/models/access-token.ts';
import { LdapConnection } from '../../../database/models/ldap-connection.ts';
import { Session } from '../../../database/models/session.ts';
import { SsoConnection } from '../../../database/models/sso-connection.ts';
import { transaction } from '../../../database/transaction.ts';
import { Refusal } from '../../../errors.ts';
import { remembered } from '../../../host/memory.ts';
import { recordEvent } from '../../foundation/events/record.ts';
import { id, instant, viewOf } from '../../foundation/fields.ts';

export const tokenView = z.object({
  id,
  name: z.string(),
  description: z.string().nullable(),
  prefix: z.string(),
  kind: z.enum(tokenKinds),
  scope: z.enum(tokenScopes),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  expiresAt: instant.nullable(),
  /** Present only while the token is suspended, because a backup was restored. */
  suspendedAt: instant.optional(),
});

/** The answer to creating or regenerating a token; the value is not shown again. */
export const newTokenView = tokenView.extend({ token: z.string() });

/** A token as its owner and the operator see it. */
export function viewToken(token: AccessToken) {
  const { suspendedAt: _, ...view } = viewOf(tokenView, token);
  return { ...view, ...suspended(token) };
}

/** The field that shows a suspension; absent if not suspended. */
export function suspended({ suspendedAt }: { suspendedAt: Date | null }): { suspendedAt?: string } {
  return suspendedAt ? { suspendedAt: suspendedAt.toISOString() } : {};
}

/** Records an event of a token; call it inside the transaction that makes the change. */
export function recordTokenEvent(
  ctx: Context,
  kind: 'token.created' | 'token.regenerated' | 'token.revoked',
  token: Pick<AccessToken, 'id' | 'name' | 'accountId'>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const subject = { type: 'token', id: token.id, name: token.name };
  return recordEvent(ctx, { kind, subject, data: { account: token.accountId, ...more } });
}

/** The marks of a session or token. A credential created with it inherits them. */
interface Marks {
  /**
   * The organization whose provider is the only proof behind the session, or null. A passed second
   * factor is also a proof, unless it was added in such a session.
   */
  vouchedBy: string | null;
  /** Whether it came through a connection that no owner had approved. */
  unapproved: boolean;
}

// A provider is trusted only with the accounts of its own organization (security P12). A token or
// app with no other proof must not give the provider access to another organization later. And if
// no owner has approved a provider, it must not reach an owner later (security I8).

/** The marks of the caller's session or token. */
export async function marksOf({ actor }: Context): Promise<Marks> {
  const none = { vouchedBy: null, unapproved: false };
  if (actor.kind !== 'user') return none;
  if (actor.via !== 'session') {
    const token = await AccessToken.findByPk(actor.tokenId);
    return token === null ? none : { vouchedBy: token.vouchedBy, unapproved: token.unapproved };
  }
  const session = await Session.findByPk(actor.sessionId);
  return session === null ? none : marksOfSession(session);
}

/** The marks of this session. */
export async function marksOfSession(session: Session): Promise<Marks> {
  const alone = factorKinds.includes(session.method) && session.secondFactorAt === null;
  const vouchedBy = session.vouchedBy ?? (alone ? session.organizationId : null);
  return { vouchedBy, unapproved: session.unapproved || (await isUnapproved(session)) };
}

/** Whether no owner has approved the connection of the session as it is now. */
async function isUnapproved({ connectionId: id }: Session): Promise<boolean> {
  if (id === null) return false;
  const where = { id, approved: false };
  return (await SsoConnection.count({ where })) > 0 || (await LdapConnection.count({ where })) > 0;
}

// The last use of a token is known to the minute (security P13). A request only notes the use, and
// a job writes it.

const minuteMs = 60_000;

/** The last use of each access token, by its id, until a job writes it. */
export const tokenUses = remembered(() => new Map<string, Date>());

/** Remembers that a token was used now, unless a use in the last minute is already stored. */
export function noteUse(
  uses: Map<string, Date>,
  token: string,
  { now, lastUsedAt }: { now: Date; lastUsedAt: Date | null },
): void {
  if (lastUsedAt === null || lastUsedAt <= minuteBefore(now)) uses.set(token, now);
}

/** Writes the remembered uses of access tokens. */
export function writeTokenUses(ctx: Context): Promise<void> {
  return writeUses(tokenUses(ctx), (id, lastUsedAt, stale) =>
    AccessToken.update({ lastUsedAt }, { where: { id, ...stale } }),
  );
}

/** Writes the uses, each in a transaction. If a write fails, the rest waits for the next run. */
export async function writeUses(
  uses: Map<string, Date>,
  write: (token: string, at: Date, stale: object) => Promise<unknown>,
): Promise<void> {
  for (const [token, at] of [...uses]) {
    const stale = {
      [Op.or]: [{ lastUsedAt: null }, { lastUsedAt: { [Op.lte]: minuteBefore(at) } }],
    };
    await transaction(() => write(token, at, stale));
    if (uses.get(token) === at) uses.delete(token);
  }
}

function minuteBefore(instant: Date): Date {
  return new Date(instant.getTime() - minuteMs);
}

/** The refusal of the later of two simultaneous changes. */
export function changedMeanwhile(what: 'app' | 'token'): Refusal {
  return new Refusal('conflict', `This ${what} was regenerated or revoked at the same moment.`, {
    hint: `List the ${what}s and try again.`,
  });
}
