import { randomUUID } from 'node:crypto';
import { Op } from 'sequelize';
import {
  connectionKindNames,
  connectionKinds,
  isConnectionKind,
} from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Account } from '../../../database/models/account.ts';
import { isProved } from '../../../database/models/account.ts';
import { Identity } from '../../../database/models/identity.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { findUsableEmail } from '../../foundation/domain-names/owns.ts';
import { after } from '../../foundation/time.ts';
import { provedByMail } from '../../tenancy/addresses/prove-address.ts';
import { planIdentity, planSocial } from '../../tenancy/identities/plan.ts';
import {
  findSocialClient,
  type SocialProvider,
} from '../../tenancy/identities/social-providers.ts';
import { restOfSignIns } from '../../tenancy/ldap/bind-tries.ts';
import { findMethods, type Offered, offeredMethod } from '../../tenancy/signin-settings/methods.ts';
import { asksOwnSecondFactor, keysOf } from '../../tenancy/sso/connection.ts';
import { findBar } from '../begin.ts';
import { opensByCode } from '../methods/magic-code.ts';
import { judgePassword } from '../methods/password.ts';
import { type Attempts, firstRoom, lastRoom } from './attempts.ts';
import { findKeys, findLdapKey, type Scene } from './scene.ts';
import { afterPlan, closed, codeOfBar, entrantOf, finish, made, type Verdict } from './verdict.ts';

// Applies the rules of a sign-in without signing in, assuming for each way that the proof is right.
// So a provider or directory guarantees this address, and sends the same identity as before, or a
// new identity if there was none.

/** A way to sign in, and the verdict on it. */
export interface SignInWay extends Verdict {
  method: Offered;
  on: boolean;
}

/** All ways to sign in, in the order they are shown. */
export async function findWays(ctx: Context, scene: Scene): Promise<SignInWay[]> {
  const offered = new Set(await findMethods(ctx, scene.domain));
  for (const kind of connectionKindNames) if (scene[kind] !== null) offered.add(kind);
  const ways: SignInWay[] = [];
  for (const method of offeredMethod.options) {
    const on = offered.has(method);
    const verdict = on ? await judge(ctx, scene, method) : closed('off');
    ways.push({ method, on, ...verdict });
  }
  return ways;
}

const untold = (reason: string): Verdict => ({ could: null, reason });

async function judge(ctx: Context, scene: Scene, method: Offered): Promise<Verdict> {
  const { account, organization, removed } = scene;
  const connection = isConnectionKind(method) ? scene[method] : null;
  const own = connection?.organizationId === organization.id;
  if (connection !== null && !own && !scene.everywhere) return untold('elsewhere');
  if (account === undefined) return own && removed ? closed('deactivated') : untold('not_told');
  const known = { ...scene, account };
  return judges[method](ctx, known);
}

/** A scene whose account the caller may know; null if there is none. */
type Known = Scene & { account: Account | null };

const judges: Record<Offered, (ctx: Context, known: Known) => Promise<Verdict>> = {
  password: byPassword,
  passkey: byPasskey,
  magicCode: byCode,
  sso: bySso,
  ldap: byDirectory,
  google: (ctx, known) => bySocial(ctx, known, 'google'),
  github: (ctx, known) => bySocial(ctx, known, 'github'),
};

async function byPassword(ctx: Context, { account, attempts }: Known): Promise<Verdict> {
  const proof = judgePassword(ctx, account, account !== null && account.passwordHash !== null);
  if ('refused' in proof) {
    if (account === null || proof.refused !== 'wrong_password') return closed(proof.refused);
    const bar = await findBar(ctx, account, { method: 'password' });
    return closed(bar === null ? 'no_password' : codeOfBar(bar));
  }
  const full = firstRoom(attempts, 'password');
  const rest = { attempts, full, of: proof.proved };
  return fromSomewhere(attempts, await finish(ctx, proof.proved, { method: 'password' }, rest));
}

async function byPasskey(ctx: Context, { account, attempts }: Known): Promise<Verdict> {
  if (account === null) return closed('unknown_account');
  // A passkey may sign in if its authenticator has not shown yet whether it verifies the person.
  const where = { accountId: account.id, signsIn: { [Op.or]: [true, null] }, suspendedAt: null };
  // A passkey counts as both factors, so no second factor is asked for.
  const verdict = await finish(ctx, account, { method: 'passkey' }, { attempts, of: null });
  if (verdict.could !== true || (await Passkey.count({ where })) > 0) return verdict;
  return closed('no_passkey');
}

async function byCode(ctx: Context, { account, attempts }: Known): Promise<Verdict> {
  if (!opensByCode(account))
    return closed(account === null ? 'unknown_account' : 'account_disabled');
  const proved = isProved(account);
  const entrant = entrantOf(account, proved ? {} : provedByMail);
  const unmailed = firstRoom(attempts, 'mail');
  if (unmailed !== null) return closed('too_many_mails', unmailed);
  const full = firstRoom(attempts, 'password');
  // An unproved account's second factor belongs to an earlier holder.
  const of = proved ? account : null;
  const rest = { attempts, full, of };
  return fromSomewhere(attempts, await finish(ctx, entrant, { method: 'magicCode' }, rest));
}

/** Adds the end of a partial lockout: networks with a past sign-in have their own limits. */
function fromSomewhere(attempts: Attempts[], verdict: Verdict): Verdict {
  const partlyUntil = lastRoom(attempts, 'password');
  return verdict.could === true && partlyUntil !== null ? { ...verdict, partlyUntil } : verdict;
}

async function bySso(ctx: Context, { account, email, sso, attempts }: Known): Promise<Verdict> {
  if (sso === null) return closed('off');
  const kind = connectionKinds.sso.name;
  const { issuer } = sso;
  const keys = account === null ? [] : await findKeys(account, kind, sso);
  const subject = keys.find((key) => key.issuer === issuer)?.subject ?? randomUUID();
  const proof = { kind, connection: sso, issuer, subject, ...keysOf(sso), email };
  const plan = await planIdentity(ctx, proof);
  const asksCode = async (id: string) => asksOwnSecondFactor(ctx, sso, id);
  return afterPlan(ctx, plan, { method: kind, connection: sso }, { email, attempts, asksCode });
}

async function byDirectory(ctx: Context, scene: Known): Promise<Verdict> {
  const { account, ldap, attempts } = scene;
  if (ldap === null) return closed('off');
  const rest = await restOfSignIns(ctx, ldap);
  if (rest > 0) return closed('directory_at_rest', after(ctx.now, rest));
  const email = await findUsableEmail(ctx, ldap.organizationId, [scene.email]);
  if (email === null) return closed('email_domain_not_verified');
  const key = account === null ? null : await findLdapKey(account, ldap);
  const { issuer, subject } = key ?? { issuer: 'entryUUID', subject: randomUUID() };
  const server = new URL(ldap.uri).hostname;
  const kind = connectionKinds.ldap.name;
  const proof = { kind, connection: ldap, issuer, subject, server, keysSince: null, email };
  const plan = await planIdentity(ctx, proof);
  const full = lastRoom(attempts, kind);
  const via = { method: kind, connection: ldap };
  return afterPlan(ctx, plan, via, { email, attempts, full, asksCode: async () => true });
}

async function bySocial(
  ctx: Context,
  { account, email, attempts }: Known,
  provider: SocialProvider,
): Promise<Verdict> {
  const client = findSocialClient(ctx, provider);
  if (client === null) return closed('off');
  const { issuer } = client;
  const wanted = { kind: 'social' as const, connectionId: provider, issuer };
  const key =
    account === null
      ? null
      : await Identity.findOne({ where: { ...wanted, accountId: account.id } });
  const subject = key?.subject ?? randomUUID();
  const plan = await planSocial({ provider, issuer, subject, email, proven: true }, undefined);
  const via = { method: provider, provenEmail: email };
  switch (plan.way) {
    case 'known':
    case 'link':
      return finish(ctx, plan.account, via, { attempts, of: plan.account });
    case 'create':
      return made(ctx, email, plan.emailProof, via, null);
    case 'conflict':
      return closed('identity_conflict');
    default:
      return closed(plan.way);
  }
}
