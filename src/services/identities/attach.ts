import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../../context.ts';
import { Account } from '../../database/models/account.ts';
import { Identity } from '../../database/models/identity.ts';
import { findByEmail } from '../accounts/find.ts';
import { recordEvent } from '../events/record.ts';
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
  const known = await Identity.findOne({ where: { connectionId: proof.connection.id, issuer, subject } });
  if (known !== null) return Account.findByPk(known.accountId);
  const holder = await findByEmail(proof.email);
  if (holder === null) return link(ctx, proof, await createAccount(ctx, proof));
  const other = await Identity.findOne({
    where: { connectionId: proof.connection.id, accountId: holder.id },
  });
  // The same key, when another sign-in has bound it since we looked.
  if (other !== null) return other.issuer === issuer && other.subject === subject ? holder : null;
  await reclaim(ctx, holder);
  return link(ctx, proof, holder);
}

async function createAccount(ctx: Context, proof: OutsideProof): Promise<Account> {
  const account = await Account.create({
    id: randomUUIDv7(),
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
    id: randomUUIDv7(),
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
