import type { ConnectionKindName } from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import { Account, isProved, isProvedForGood } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { domainOf } from '../../foundation/domain-names/canonical.ts';
import { findOwner } from '../../foundation/domain-names/owns.ts';
import { findByEmail } from '../../people/accounts/account.ts';
import type { SocialProvider } from './social-providers.ts';

// Decides which account an outside proof leads to, without writing. `attach.ts` carries out the
// decision, and `idctl explain` shows it.

/**
 * The proof of a provider or directory. The caller has checked every part, including the domain.
 */
export interface OutsideProof {
  kind: ConnectionKindName;
  connection: { id: string; organizationId: string };
  issuer: string;
  subject: string;
  /** As in the stored key. Null for OpenID Connect, where the issuer identifies the server. */
  server: string | null;
  /** A key that was linked earlier does not count; null if each one does. */
  keysSince: Date | null;
  /**
   * Canonical. Unless `trust.domains` is off, on a domain that the organization has verified now
   * (security I2).
   */
  email: string;
  name: string;
  /** Whether no owner has approved the connection as it is now (security I8). */
  unapproved: boolean;
}

/** The parts of a proof that decide which account it leads to. */
type Key = Omit<OutsideProof, 'name' | 'unapproved'>;

/** A key to detach first: another organization now owns its account's domain (security I2). */
interface Ending {
  key: Identity;
  account: Account;
}

/** The account that a proof leads to: by its key, or by its address. */
export type IdentityPlan =
  | { way: 'known'; account: Account; key: Identity; ends: Ending | null }
  /** The key belongs to a removed connection, which this connection replaces. */
  | { way: 'adopt'; account: Account; key: Identity; ends: null }
  | { way: 'link'; account: Account; ends: Ending | null }
  | { way: 'create'; emailProof: 'domain'; ends: Ending | null }
  | { way: 'conflict' };

/** Decides what `attachIdentity` does with this proof. */
export async function planIdentity(ctx: Context, proof: Key): Promise<IdentityPlan> {
  const plan = await planByKey(ctx, proof);
  const { keysSince } = proof;
  // An unapproved SAML provider can choose its entity ID, so it could assert any earlier subject.
  const isEarlier =
    (plan.way === 'known' || plan.way === 'adopt') &&
    keysSince !== null &&
    plan.key.linkedAt <= keysSince;
  return isEarlier ? { way: 'conflict' } : plan;
}

async function planByKey(ctx: Context, proof: Key): Promise<IdentityPlan> {
  const { connection, issuer, subject, server } = proof;
  // This is one query: between two queries, another sign-in of this person may link the key.
  const keys = await Identity.findAll({
    where: { ...inPlaceOf(proof), issuer, subject },
    order: [['id', 'DESC']],
  });
  const current = keys.find(({ connectionId }) => connectionId === connection.id);
  // Another server may return any entry id, even one that the former server assigned. So may a
  // SAML provider, whose entity ID proves nothing.
  if (current !== undefined && current.server !== server) return { way: 'conflict' };
  const key = current ?? keys.find((former) => former.server === server) ?? null;
  const account = key === null ? null : await Account.findByPk(key.accountId);
  if (key === null || account === null) return planByAddress(proof, null);
  if (await belongsToAnother(ctx, account, connection.organizationId))
    return planByAddress(proof, { key, account });
  if (key === current) return { way: 'known', account, key, ends: null };
  const held = await findKeyOn(connection.id, account.id);
  if (held === null) return { way: 'adopt', account, key, ends: null };
  // If another sign-in has adopted the key since we looked, the account has this same key.
  return isBound(held, proof)
    ? { way: 'known', account, key: held, ends: null }
    : { way: 'conflict' };
}

async function planByAddress(proof: Key, ends: Ending | null): Promise<IdentityPlan> {
  const account = await findByEmail(proof.email);
  if (account === null) return { way: 'create', emailProof: 'domain', ends };
  const held = await Identity.findAll({ where: { ...inPlaceOf(proof), accountId: account.id } });
  const others = held.filter(({ id }) => id !== ends?.key.id);
  if (others.length === 0) return { way: 'link', account, ends };
  // Another sign-in may have linked this key since we looked.
  const same = others.find((other) => isBound(other, proof));
  return same === undefined ? { way: 'conflict' } : { way: 'known', account, key: same, ends };
}

/** The key of the account on this connection, or of this social provider; null if it has none. */
export function findKeyOn(connectionId: string, accountId: string): Promise<Identity | null> {
  return Identity.findOne({ where: { connectionId, accountId } });
}

/** The keys of the organization's connections of this kind, former ones included. */
function inPlaceOf({ kind, connection }: Pick<OutsideProof, 'kind' | 'connection'>) {
  return { kind, organizationId: connection.organizationId };
}

function isBound(key: Identity, { connection, issuer, subject, server }: Key): boolean {
  return (
    key.connectionId === connection.id &&
    key.issuer === issuer &&
    key.subject === subject &&
    key.server === server
  );
}

async function belongsToAnother(
  ctx: Context,
  { email }: Account,
  organizationId: string,
): Promise<boolean> {
  if (ctx.config.trust.domains === 'off' || email === null) return false;
  const owner = await findOwner(domainOf(email));
  return owner !== null && owner !== organizationId;
}

/** The proof of a social provider, with an address that it has verified. */
export interface SocialProof {
  provider: SocialProvider;
  issuer: string;
  subject: string;
  /** Canonical. */
  email: string;
  /**
   * Whether the provider guarantees the address. If not, the address does not lead to an account.
   */
  proven: boolean;
  name: string;
}

/** The account that a social proof leads to, or why there is none. */
export type SocialPlan =
  | { way: 'known'; account: Account; key: Identity }
  | { way: 'link'; account: Account }
  | { way: 'create'; emailProof: 'social' }
  | { way: 'conflict' }
  /** The provider does not guarantee the address. */
  | { way: 'not_guaranteed' }
  /** The address was never proved, or only by an organization that has given up the domain. */
  | { way: 'unproved' | 'former_domain' };

/** Decides what `attachSocial` does with this proof. */
export async function planSocial(
  { provider, issuer, subject, email, proven }: Omit<SocialProof, 'name'>,
  linkTo: string | undefined,
): Promise<SocialPlan> {
  const key = await Identity.findOne({ where: { connectionId: provider, issuer, subject } });
  if (key !== null) {
    const account = await Account.findByPk(key.accountId, { rejectOnEmpty: true });
    const own = linkTo === undefined || linkTo === account.id;
    return own ? { way: 'known', account, key } : { way: 'conflict' };
  }
  if (linkTo === undefined && !proven) return { way: 'not_guaranteed' };
  const account = linkTo === undefined ? await findByEmail(email) : await Account.findByPk(linkTo);
  if (account === null) return { way: 'create', emailProof: 'social' };
  if (!isProved(account)) return { way: 'unproved' };
  if (linkTo === undefined && !isProvedForGood(account)) return { way: 'former_domain' };
  const held = await findKeyOn(provider, account.id);
  if (held === null) return { way: 'link', account };
  // If another sign-in has linked the key since we looked, the account has this same key.
  const isSame = held.issuer === issuer && held.subject === subject;
  return isSame ? { way: 'known', account, key: held } : { way: 'conflict' };
}
