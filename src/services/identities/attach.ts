import type { Context } from '../../context.ts';
import { orderedId } from '../../crypto/id.ts';
import { Account, type EmailProof } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { findByEmail } from '../accounts/find.ts';
import { domainOf } from '../domains/canonical.ts';
import { findOwner, ownsAddress } from '../domains/owns.ts';
import { recordEvent } from '../events/record.ts';
import { detachIdentities, recordUnlinked } from './detach.ts';
import { reclaim } from './reclaim.ts';

// The one door by which an outside proof reaches an account (security I1). Nothing else may join an
// e-mail address to an account.

/** What a connection's directory has proved, checked by the caller down to the domain. */
export interface OutsideProof {
  kind: 'sso' | 'ldap';
  connection: { id: string; organizationId: string };
  issuer: string;
  subject: string;
  /** Canonical, on a domain that the organization has verified now (security I2). */
  email: string;
  name: string;
}

/**
 * The account of the proof: by its key if that is known, whatever the address says now; else the
 * account of the address, which the key is then bound to; else a new one. Null when the address's
 * account has another key on this connection already: a conflict that an admin resolves.
 * Call it inside the sign-in's transaction.
 */
export async function attachIdentity(ctx: Context, proof: OutsideProof): Promise<Account | null> {
  const { issuer, subject } = proof;
  const known = await findByKey(ctx, proof);
  if (known !== null) return known;
  const holder = await findByEmail(proof.email);
  if (holder === null) return link(ctx, proof, await createAccount(ctx, proof));
  const other = await Identity.findOne({
    where: { connectionId: proof.connection.id, accountId: holder.id },
  });
  // The same key, when another sign-in has bound it since we looked.
  if (other !== null) return other.issuer === issuer && other.subject === subject ? holder : null;
  await reclaim(ctx, holder, proof.connection.organizationId);
  return link(ctx, proof, holder);
}

/**
 * The account of the key. A key is void once the account's domain is another organization's: what the word of
 * this one opened while the domain was its own, it does not keep open (security I2).
 */
async function findByKey(
  ctx: Context,
  { connection, issuer, subject }: OutsideProof,
): Promise<Account | null> {
  const key = await Identity.findOne({ where: { connectionId: connection.id, issuer, subject } });
  const account = key === null ? null : await Account.findByPk(key.accountId);
  if (key === null || account === null) return null;
  if (!(await belongsToAnother(ctx, account, connection.organizationId))) return account;
  await detachIdentities(ctx, [key]);
  await recordUnlinked(ctx, key, account.name);
  return null;
}

async function belongsToAnother(ctx: Context, { email }: Account, organizationId: string): Promise<boolean> {
  if (ctx.config.trust.domains === 'off' || email === null) return false;
  const owner = await findOwner(domainOf(email));
  return owner !== null && owner !== organizationId;
}

/** A person as an organization's provisioning names them, who has no record in it yet: (organization, record) is the key. */
export interface Provisioned {
  organizationId: string;
  /** Canonical, and of nobody else in the organization; null when it is not known. */
  email: string | null;
  name: string;
}

/**
 * The account for a new record: the one of the address, which gains nothing by this, else a new one, whose address is
 * proven if the organization has verified its domain (security I4). Call it inside the transaction that writes the record.
 */
export async function attachProvisioned(
  ctx: Context,
  { organizationId, email, name }: Provisioned,
): Promise<{ account: Account; link: 'attached' | 'created' }> {
  const holder = email === null ? null : await findByEmail(email);
  if (holder !== null) return { account: holder, link: 'attached' };
  const emailProof = await proofOf(organizationId, email);
  const account = await Account.create({ id: orderedId(), email, emailProof, name, createdAt: ctx.now });
  return { account, link: 'created' };
}

/**
 * Gives an account that provisioning made without an address the one that has become known, unless it is somebody
 * else's. Whether it did.
 */
export async function attachAddress(
  account: Account,
  { organizationId, email }: { organizationId: string; email: string },
): Promise<boolean> {
  if (account.email !== null || (await findByEmail(email)) !== null) return false;
  await account.update({ email, emailProof: await proofOf(organizationId, email) });
  return true;
}

async function proofOf(organizationId: string, email: string | null): Promise<EmailProof> {
  return (await ownsAddress(organizationId, email)) ? 'domain' : 'none';
}

async function createAccount(ctx: Context, proof: OutsideProof): Promise<Account> {
  const account = await Account.create({
    id: orderedId(),
    email: proof.email,
    emailProof: 'domain',
    name: proof.name,
    createdAt: ctx.now,
  });
  await recordEvent(ctx, {
    kind: 'user.created',
    organizationId: proof.connection.organizationId,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { by: proof.kind },
  });
  return account;
}

async function link(ctx: Context, proof: OutsideProof, account: Account): Promise<Account> {
  const { kind, connection, issuer, subject } = proof;
  await Identity.create({
    id: orderedId(),
    accountId: account.id,
    kind,
    connectionId: connection.id,
    organizationId: connection.organizationId,
    issuer,
    subject,
    linkedAt: ctx.now,
  });
  await recordEvent(ctx, {
    kind: 'identity.linked',
    organizationId: connection.organizationId,
    subject: { type: 'user', id: account.id, name: account.name },
    data: { kind, issuer },
  });
  return account;
}
