import type { Context } from '../../../context.ts';
import { orderedId } from '../../../crypto/id.ts';
import { hold } from '../../../database/hold.ts';
import type { Late } from '../../../database/hold-order.ts';
import { Account, type EmailProof } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { insertRow } from '../../../database/select.ts';
import { Refusal } from '../../../errors.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { isMailConfigured } from '../../foundation/mail/configured.ts';
import { notify } from '../../foundation/mail/notify.ts';
import { idLikeOthers } from '../../people/accounts/account.ts';
import { findHolder } from './identities.sql.ts';
import { detachIdentities, recordUnlinked } from './operations.ts';
import {
  findKeyOn,
  type OutsideProof,
  planIdentity,
  planSocial,
  type SocialProof,
} from './plan.ts';
import { reclaim } from './reclaim.ts';
import { providerNames, type SocialProvider } from './social-providers.ts';

// The only code that links an outside proof to an account (security I1).

/** The account of an outside proof, and whether its session gets the mark (security I8). */
interface Attached {
  account: Account;
  unapproved: boolean;
}

/**
 * Returns the account of the proof. A known key decides, whatever the address is now, unless
 * another organization owns the account's domain. Otherwise links the key to the account of the
 * address, or to a new account. Returns null on a conflict: the account already has another key of
 * this organization, or the directory's server has changed. An unlink or relink resolves the
 * conflict. Call it inside the sign-in's transaction.
 */
export async function attachIdentity(ctx: Context, proof: OutsideProof): Promise<Attached | null> {
  const { kind, connection, email, name, unapproved } = proof;
  const plan = await planIdentity(ctx, proof);
  if (plan.way === 'conflict') return null;
  if (plan.ends !== null) {
    await detachIdentities(ctx, [plan.ends.key]);
    await recordUnlinked(ctx, plan.ends.key, plan.ends.account.name);
  }
  switch (plan.way) {
    case 'known':
      return { account: plan.account, unapproved: marks(plan.key, proof, plan.account) };
    case 'adopt':
      return adopt(ctx, plan.key, plan.account, proof);
    case 'create': {
      const made = { email, name, emailProof: plan.emailProof };
      const account = await createAccount(ctx, made, kind, connection.organizationId);
      return { account: await link(ctx, proof, account), unapproved };
    }
    case 'link':
      await reclaim(ctx, plan.account, connection.organizationId, { name, unapproved });
      return { account: await link(ctx, proof, plan.account), unapproved };
  }
}

/**
 * Whether a session by this key is marked `unapproved`. The session inherits the key's mark, unless
 * an approved connection names the account's own address: it would link the same key now.
 */
function marks(key: Identity, { email, unapproved }: OutsideProof, account: Account): boolean {
  return unapproved || (key.unapproved && email !== account.email);
}

/** Moves a former key to this connection. Null if the account has another key there. */
async function adopt(
  ctx: Context,
  key: Identity,
  account: Account,
  proof: OutsideProof,
): Promise<Attached | null> {
  const connectionId = proof.connection.id;
  // Another sign-in may have moved the key since this one read it.
  await hold.account(account.id);
  await key.reload();
  if (key.connectionId === connectionId) return { account, unapproved: marks(key, proof, account) };
  if ((await findKeyOn(connectionId, account.id)) !== null) return null;
  // No sign-in through this connection has synced the groups yet (security I7).
  const unsynced = { lastGroups: null, groupsSyncedAt: null, knownGroups: null };
  const unapproved = key.unapproved || proof.unapproved;
  await key.update({ connectionId, linkedAt: ctx.now, unapproved, ...unsynced });
  await recordLinked(ctx, key, account);
  return { account, unapproved: marks(key, proof, account) };
}

/**
 * Returns the account of a social proof, and whether it is new. A known key decides. Otherwise the
 * account is `linkTo`, the signed-in person who asked for the link, or else the account of the
 * address, or a new one. To get a key, an existing account's address must be proved (security O5):
 * a stranger may have created the account. Null if another account has the key, or the account has
 * another key of this provider. A key linked in a session with the mark `unapproved` gets it too.
 * Call it inside the sign-in's transaction.
 */
export async function attachSocial(
  ctx: Context,
  proof: SocialProof,
  linkTo: string | undefined,
  unapproved: boolean,
): Promise<(Attached & { created: boolean }) | null> {
  const { provider, issuer, subject, email } = proof;
  const connection = { id: provider, organizationId: null };
  const entry = { kind: 'social' as const, connection, issuer, subject, unapproved };
  const plan = await planSocial(proof, linkTo);
  switch (plan.way) {
    case 'conflict':
      return null;
    case 'known':
      return { account: plan.account, unapproved: plan.key.unapproved, created: false };
    case 'create': {
      const made = { ...proof, emailProof: plan.emailProof };
      const account = await createAccount(ctx, made, provider);
      return { account: await link(ctx, entry, account), unapproved, created: true };
    }
    case 'link': {
      const account = await link(ctx, entry, plan.account);
      await notify(ctx, account, { what: 'social-linked', provider: providerNames[provider] });
      return { account, unapproved, created: false };
    }
    case 'not_guaranteed': {
      const name = providerNames[provider];
      // The refusal is the same, whether or not the address has an account.
      throw connectFirst(provider, `${name} does not guarantee the address ${email}.`);
    }
    case 'former_domain': {
      const message = `The organization that verified ${email} has given up its domain.`;
      throw connectFirst(provider, message);
    }
    case 'unproved':
      throw signInFirst(ctx, provider);
  }
}

function signInFirst(ctx: Context, provider: SocialProvider): Refusal {
  const name = providerNames[provider];
  return new Refusal('sign_in_first', "This account's e-mail address has not been verified yet.", {
    hint: isMailConfigured(ctx)
      ? `Reset its password by mail: this verifies the address. Then use ${name}.`
      : `Sign in through your organization, or ask the operator to delete this account. Then use ${name}.`,
  });
}

function connectFirst(provider: SocialProvider, message: string): Refusal {
  const name = providerNames[provider];
  return new Refusal('sign_in_first', message, {
    hint: `Sign in another way, then connect ${name} on the account page. After that, ${name} signs you in.`,
  });
}

type Holder = Pick<Account, 'id' | 'email' | 'emailProof' | 'name'>;

/** A person that SCIM names in an organization, without a record there yet. */
export interface Provisioned {
  organizationId: string;
  /** Canonical. Null if SCIM gives none, or another record of the organization has the address. */
  email: string | null;
  name: string;
}

/**
 * The account for a new record: the account of the address, or a new account. The address of a new
 * account is proved if the organization has verified its domain (security I4). Call it inside the
 * record's transaction.
 */
export async function attachProvisioned(
  ctx: Context,
  { organizationId, email, name }: Provisioned,
): Promise<{ account: Holder; link: 'attached' | 'created' }> {
  const { holder, emailProof } = await lookUp(organizationId, email);
  const held = holder === null ? null : await hold.account(holder.id);
  if (held !== null) return { account: held, link: 'attached' };
  const isStrangers = email !== null && emailProof !== 'domain';
  const account = { id: isStrangers ? await idLikeOthers(ctx) : orderedId(), email, name };
  const row = { ...account, email_proof: emailProof, locale: 'en', created_at: ctx.now };
  await insertRow('accounts', row);
  return { account: { ...account, emailProof }, link: 'created' };
}

/**
 * Sets the address of an account that SCIM created without one; returns whether it did. Unless
 * `trust.domains` is off, the organization must have verified the address's domain. Otherwise, the
 * result would reveal accounts of other organizations (security I4).
 */
export async function attachAddress(
  ctx: Context,
  account: Pick<Account, 'id' | 'email'>,
  { organizationId, email }: { organizationId: string; email: string },
): Promise<boolean> {
  // SCIM has already locked the account, so the domain is locked late, out of the usual order.
  const { holder, emailProof } = await lookUp(organizationId, email, { late: true });
  if (account.email !== null || holder !== null) return false;
  if (emailProof !== 'domain' && ctx.config.trust.domains !== 'off') return false;
  await Account.update({ email, emailProof }, { where: { id: account.id } });
  return true;
}

/** The account of the address. If there is none, the organization's proof of the address. */
async function lookUp(
  organizationId: string,
  email: string | null,
  late?: Late,
): Promise<{ holder: { id: string } | null; emailProof: EmailProof }> {
  if (email === null) return { holder: null, emailProof: 'none' };
  const { id, domain } = await findHolder(organizationId, email);
  // A reclaim of the holder needs the domain too, and domains are locked before accounts.
  const isOwn = domain !== null && (await hold.keptDomain(domain, late));
  if (id !== null) return { holder: { id }, emailProof: 'none' };
  return { holder: null, emailProof: isOwn ? 'domain' : 'none' };
}

async function createAccount(
  ctx: Context,
  { email, emailProof, name }: { email: string; emailProof: EmailProof; name: string },
  by: string,
  organizationId: string | null = null,
): Promise<Account> {
  const row = { id: orderedId(), email, emailProof, name, createdAt: ctx.now };
  const account = await Account.create(row);
  hold.created('account', [account.id]);
  await recordEvent(ctx, {
    kind: 'user.created',
    ...eventAbout('user', account, organizationId),
    data: { by },
  });
  return account;
}

interface Entry {
  kind: Identity['kind'];
  connection: { id: string; organizationId: string | null };
  issuer: string;
  subject: string;
  server?: string | null;
  unapproved: boolean;
}

async function link(ctx: Context, entry: Entry, account: Account): Promise<Account> {
  const { kind, connection, issuer, subject, server = null, unapproved } = entry;
  const key = await Identity.create({
    id: orderedId(),
    accountId: account.id,
    kind,
    connectionId: connection.id,
    organizationId: connection.organizationId,
    issuer,
    subject,
    server,
    linkedAt: ctx.now,
    unapproved,
  });
  await recordLinked(ctx, key, account);
  return account;
}

function recordLinked(
  ctx: Context,
  { kind, organizationId, issuer }: Identity,
  account: Account,
): Promise<void> {
  return recordEvent(ctx, {
    kind: 'identity.linked',
    ...eventAbout('user', account, organizationId),
    data: { kind, issuer },
  });
}
