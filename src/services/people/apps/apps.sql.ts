import type { Context } from '../../../context.ts';
import type { AccessToken } from '../../../database/models/access-token.ts';
import type { Role } from '../../../database/models/membership.ts';
import { select } from '../../../database/select.ts';
import { pushedIn } from '../../foundation/domain-names/pushed.sql.ts';

// The SQL of the requests that apps send. It bypasses the ORM, because these requests are frequent.

/** The fields of an app that has authenticated. */
export interface ProvedApp {
  id: string;
  accountId: string;
  name: string;
  /** The SHA-256 of the secret that the app sent. */
  secretHash: string;
}

/** The app with a client id, and its account. */
export interface FoundApp extends ProvedApp {
  suspendedAt: unknown;
  disabledAt: unknown;
}

const finding = `SELECT p.id, p.account_id AS "accountId", p.name, p.secret_hash AS "secretHash",
    p.suspended_at AS "suspendedAt", a.disabled_at AS "disabledAt"
  FROM apps p JOIN accounts a ON a.id = p.account_id WHERE p.client_id = $1`;

/** The app with this client id, or null. */
export async function findApp(clientId: string): Promise<FoundApp | null> {
  const [app = null] = await select<FoundApp>(finding, [clientId], { prepared: true });
  return app;
}

/** An app whose account is locked. */
interface HeldApp {
  /** The oldest of the app's `maxLive` newest live tokens; null if it has fewer. */
  surplus: string | null;
  vouchedBy: string | null;
  unapproved: boolean;
}

const held = (maxLive: number) => `SELECT (
    SELECT t.id FROM access_tokens t WHERE t.app_id = p.id AND t.expires_at > $2
    ORDER BY t.id DESC LIMIT 1 OFFSET ${maxLive - 1}
  ) AS surplus, p.vouched_by AS "vouchedBy", p.unapproved FROM apps p WHERE p.id = $1 AND p.secret_hash = $3`;

/** The app with this secret, or null. Call it with the app's account locked. */
export async function readHeldApp(
  { now }: Pick<Context, 'now'>,
  { id, secretHash }: { id: string; secretHash: string },
  maxLive: number,
): Promise<HeldApp | null> {
  const [app = null] = await select<HeldApp>(held(maxLive), [id, now, secretHash], {
    columns: { unapproved: 'flag' },
  });
  return app;
}

const shared = (ctx: Context) => `SELECT o.id, o.slug, m.role FROM apps p
  JOIN memberships own ON own.organization_id = p.organization_id AND own.account_id = p.account_id
    AND own.role IN ('admin', 'owner')
  JOIN accounts a ON a.id = $2
  JOIN memberships m ON m.organization_id = p.organization_id AND m.account_id = a.id
    AND NOT ${pushedIn(ctx)}
  JOIN organizations o ON o.id = p.organization_id
  WHERE p.id = $1`;

/** The organization of an app, and the role of an account in it. */
interface Shared {
  id: string;
  slug: string;
  role: Role;
}

/** The app's organization, if the app's owner manages it and the account is a member; else null. */
export async function findSharedOrganization(
  ctx: Context,
  appId: string,
  accountId: string,
): Promise<Shared | null> {
  const [found = null] = await select<Shared>(shared(ctx), [appId, accountId], { prepared: true });
  return found;
}

/** A token as introspection shows it. */
interface TokenDetails extends Pick<AccessToken, 'scope' | 'createdAt' | 'expiresAt'> {
  /** The app of a bot token, or null. */
  clientId: string | null;
}

const details = `SELECT t.scope, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
    p.client_id AS "clientId"
  FROM access_tokens t LEFT JOIN apps p ON p.id = t.app_id WHERE t.id = $1`;

/** The token with this id; null if it is gone. */
export async function findDetails(id: string): Promise<TokenDetails | null> {
  const [token = null] = await select<TokenDetails>(details, [id], {
    prepared: true,
    columns: { createdAt: 'time', expiresAt: 'time' },
  });
  return token;
}
