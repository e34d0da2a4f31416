import { Op, type WhereOptions } from 'sequelize';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import { transaction } from '../../../database/transaction.ts';
import { jsonIn } from '../../../input.ts';
import type { Reason } from '../../../reasons.ts';
import { type Bound, createChallenge, type Purpose, spendChallenge } from './challenge.ts';
import { relyingPartyOf } from './relying-party.ts';

// Asks an authenticator for a passkey, and checks the answer.

/** Bytes in base64url, at most this many characters. */
export const bytes = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');

/** The fields that every credential of the browser has. Browsers may add others (WebAuthn §5.1). */
export const credentialFields = {
  id: bytes(1400),
  rawId: bytes(1400),
  type: z.literal('public-key'),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullish().catch(undefined),
};

/** A credential as the browser's `toJSON()` gives it after `navigator.credentials.get`. */
export const assertionInput = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: bytes(8000),
    authenticatorData: bytes(8000),
    signature: bytes(4000),
    userHandle: bytes(100).nullish(),
  }),
});

export type GivenAssertion = z.output<typeof assertionInput>;

/** The outcome of a check; the account is known if the credential is. */
type Checked =
  | { passkeyId: string; account: Account }
  | { refused: Reason; account: Account | null };

/**
 * The options for `navigator.credentials.get`, with a fresh challenge. Without an account any
 * passkey of the person may answer, and it must verify the person.
 */
export async function askForPasskey(
  ctx: Context,
  bound: Bound,
  given: string | undefined,
): Promise<{ options: AssertionOptions; browser: string }> {
  const { accountId } = bound;
  const { challenge, browser } = createChallenge(ctx, bound, given);
  const own = accountId === null ? [] : await Passkey.findAll({ where: { accountId } });
  const options = {
    challenge: Buffer.from(challenge).toString('base64url'),
    rpId: relyingPartyOf(ctx).id,
    timeout: 300_000,
    userVerification: verificationFor(bound.purpose),
    allowCredentials: own.map(describe),
  };
  return { options, browser };
}

/** The options that a browser's `parseRequestOptionsFromJSON` takes. */
export const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int(),
  userVerification: z.enum(['required', 'preferred']),
  allowCredentials: z.array(
    z.object({
      id: z.string(),
      type: z.literal('public-key'),
      transports: z.array(z.string()),
    }),
  ),
});
export type AssertionOptions = z.output<typeof requestOptions>;

/** A passkey as the options of both ceremonies name it. */
export function describe({ credentialId, transports }: Passkey) {
  return { id: credentialId, type: 'public-key' as const, transports };
}

/** A sign-in with only a passkey must verify the person: it counts as both factors. */
function verificationFor(purpose: Purpose): 'required' | 'preferred' {
  return purpose === 'signIn' ? 'required' : 'preferred';
}

/** The user handle of an account: its id as bytes, which reveals nothing about the person. */
export function handleOf(accountId: string): string {
  return Buffer.from(accountId.replaceAll('-', ''), 'hex').toString('base64url');
}

// A key that no authenticator has. An unknown credential is checked against it, so that the answer
// takes as long as for a known one (security P7).
const noKey =
  'pQECAyYgASFYIPxGVhGFyebgdPfBwUesP8vKZ1_mgfZn-W8l7Q8PusFLIlggb4KaqEUPKVaW2-IWgeBVc3A3yp5YKWtznerQGad1R2Q';

/**
 * Checks an answer: challenge, origin, host, flags, signature, the account that it names, and the
 * counter. Call it outside transactions: challenge and counter stay used, whatever follows.
 */
export async function checkAssertion(
  ctx: Context,
  given: GivenAssertion,
  bound: Bound,
  browser: string | undefined,
): Promise<Checked> {
  const passkey = await Passkey.findOne({ where: { credentialId: given.id } });
  const account = passkey === null ? null : await Account.findByPk(passkey.accountId);
  const { id: expectedRPID, origin: expectedOrigin } = relyingPartyOf(ctx);
  const challenge = challengeIn(given.response.clientDataJSON);
  const fault = await spendChallenge(ctx, challenge, bound, browser);
  if (fault !== null) return { refused: fault, account };
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { id, rawId, type, response } = given;
  const { userHandle, ...signed } = response;
  const verified = await verifyAuthenticationResponse({
    response: { id, rawId, type, response: signed, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin,
    expectedRPID,
    requireUserVerification: verificationFor(bound.purpose) === 'required',
    credential: {
      id,
      publicKey: new Uint8Array(Buffer.from(passkey?.publicKey ?? noKey, 'base64url')),
      // `storeUse` compares the counter, so that only one of two parallel answers succeeds.
      counter: 0,
    },
  }).catch(refusalOf);
  if ('refused' in verified) return { ...verified, account };
  if (passkey === null || account === null) return { refused: 'unknown_credential', account };
  if (!verified.verified) return { refused: 'wrong_signature', account };
  const refused = refusalOfOwner(given, bound, passkey);
  if (refused !== null) return { refused, account };
  if (!(await storeUse(ctx, passkey, verified.authenticationInfo)))
    return { refused: 'counter_went_back', account };
  return { passkeyId: passkey.id, account };
}

const clientData = z.object({ challenge: z.string() });

/** The challenge that an answer names; empty if there is none. */
export function challengeIn(clientDataJSON: string): string {
  const data = jsonIn(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  return clientData.safeParse(data).data?.challenge ?? '';
}

/**
 * Why the passkey is refused: it belongs to another account, or is not for this use. Null if
 * accepted.
 */
function refusalOfOwner(
  { response: { userHandle } }: GivenAssertion,
  { purpose, accountId }: Bound,
  { accountId: owner, signsIn, suspendedAt }: Passkey,
): Reason | null {
  if (accountId !== null && owner !== accountId) return 'other_account';
  // A passkey that the person chose in the browser names its account (WebAuthn §7.2 step 6).
  if (purpose === 'signIn' && userHandle !== handleOf(owner)) return 'wrong_account';
  if (userHandle && userHandle !== handleOf(owner)) return 'wrong_account';
  if (purpose !== 'signIn') return null;
  if (signsIn === false) return 'second_factor_only';
  return suspendedAt === null ? null : 'suspended';
}

/** Our code for the library's error message. Tests check each code, as the messages may change. */
export function refusalOf(error: unknown): { refused: Reason } {
  const said = error instanceof Error ? error.message : '';
  if (/origin/i.test(said)) return { refused: 'wrong_origin' };
  if (/RP ID/i.test(said)) return { refused: 'wrong_host' };
  if (/user (not present|presence)/i.test(said)) return { refused: 'user_not_present' };
  if (/user verification/i.test(said)) return { refused: 'user_not_verified' };
  return { refused: 'malformed' };
}

/**
 * Stores the counter of a correct answer. False if it did not grow, as with a copied authenticator.
 * Of two parallel answers with the same counter, only one succeeds. Authenticators without a
 * counter always send 0.
 */
async function storeUse(
  ctx: Context,
  { id }: Passkey,
  {
    newCounter: counter,
    credentialBackedUp: backedUp,
  }: { newCounter: number; credentialBackedUp: boolean },
): Promise<boolean> {
  const where: WhereOptions = { id, counter: counter === 0 ? 0 : { [Op.lt]: counter } };
  const use = { counter, backedUp, lastUsedAt: ctx.now };
  const [stored] = await transaction(() => Passkey.update(use, { where }));
  return stored === 1;
}
