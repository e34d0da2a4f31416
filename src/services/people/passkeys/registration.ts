import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { Account } from '../../../database/models/account.ts';
import { Passkey } from '../../../database/models/passkey.ts';
import type { Reason } from '../../../reasons.ts';
import {
  bytes,
  challengeIn,
  credentialFields,
  describe,
  handleOf,
  refusalOf,
} from './assertion.ts';
import { type Bound, challengeBegan, createChallenge, spendChallenge } from './challenge.ts';
import { relyingPartyOf } from './relying-party.ts';

// A new passkey: the options for the browser, and the check of the authenticator's answer.

/** A credential as the browser's `toJSON()` gives it after `navigator.credentials.create`. */
export const registrationInput = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: bytes(8000),
    attestationObject: bytes(32_000),
    transports: z.array(z.string().max(30)).max(10).optional(),
  }),
  clientExtensionResults: z
    .object({ credProps: z.object({ rk: z.boolean().optional() }).optional() })
    .optional()
    .describe('Tells whether the passkey can sign in without a user name.'),
});

/** The COSE numbers of EdDSA, ES256 and RS256. */
const algorithms = [-8, -7, -257];

/** The options that a browser's `parseCreationOptionsFromJSON` takes. */
export const creationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.int(), type: z.literal('public-key') })),
  timeout: z.int(),
  attestation: z.literal('none'),
  authenticatorSelection: z.object({
    residentKey: z.literal('preferred'),
    requireResidentKey: z.literal(false),
    userVerification: z.literal('preferred'),
  }),
  excludeCredentials: z.array(
    z.object({ id: z.string(), type: z.literal('public-key'), transports: z.array(z.string()) }),
  ),
  extensions: z.object({ credProps: z.literal(true) }),
});

const asked = {
  timeout: 300_000,
  attestation: 'none',
  // A security key without a PIN or space for credentials is still a second factor.
  authenticatorSelection: {
    residentKey: 'preferred',
    requireResidentKey: false,
    userVerification: 'preferred',
  },
  extensions: { credProps: true },
} as const;

/** The options for `navigator.credentials.create`, and the cookie of their challenge. */
export async function askForNewPasskey(
  ctx: Context,
  accountId: string,
  given: string | undefined,
): Promise<{ options: z.output<typeof creationOptions>; browser: string }> {
  const account = await Account.findByPk(accountId, { rejectOnEmpty: true });
  const present = await Passkey.findAll({ where: { accountId } });
  const { challenge, browser } = createChallenge(ctx, boundTo(accountId), given);
  const { id, name } = relyingPartyOf(ctx);
  const options = {
    ...asked,
    challenge: Buffer.from(challenge).toString('base64url'),
    rp: { id, name },
    user: {
      id: handleOf(accountId),
      name: account.email ?? account.name,
      displayName: account.name,
    },
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' as const })),
    excludeCredentials: present.map(describe),
  };
  return { options, browser };
}

const boundTo = (accountId: string): Bound => ({ purpose: 'register', accountId });

/** The data of a new credential. */
export type NewCredential = Pick<
  Passkey,
  | 'credentialId'
  | 'publicKey'
  | 'counter'
  | 'transports'
  | 'backupEligible'
  | 'backedUp'
  | 'signsIn'
>;

/** When the registration began; null if its challenge is not ours. */
export function registrationBegan(
  ctx: Context,
  { response }: z.output<typeof registrationInput>,
): Date | null {
  return challengeBegan(ctx, challengeIn(response.clientDataJSON));
}

/** Checks the authenticator's answer. The challenge is used up even if the check fails. */
export async function checkRegistration(
  ctx: Context,
  given: z.output<typeof registrationInput>,
  accountId: string,
  browser: string | undefined,
): Promise<NewCredential | { refused: Reason }> {
  const { id, rawId, type, response } = given;
  const { transports = [], ...rest } = response;
  const expectedChallenge = challengeIn(response.clientDataJSON);
  const fault = await spendChallenge(ctx, expectedChallenge, boundTo(accountId), browser);
  if (fault !== null) return { refused: fault };
  if (await bearsCertificates(response.attestationObject)) return { refused: 'attested' };
  const { id: expectedRPID, origin: expectedOrigin } = relyingPartyOf(ctx);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const answer = await verifyRegistrationResponse({
    response: { id, rawId, type, response: { ...rest, transports }, clientExtensionResults: {} },
    expectedChallenge,
    expectedOrigin,
    expectedRPID,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  }).catch(refusalOf);
  if ('refused' in answer) return answer;
  if (!answer.verified) return { refused: 'wrong_signature' };
  const { credential, credentialDeviceType, credentialBackedUp, userVerified } =
    answer.registrationInfo;
  // Only the id in the signed data counts.
  if (credential.id !== id) return { refused: 'malformed' };
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    signsIn: signsInAlone(given.clientExtensionResults?.credProps?.rk, userVerified),
  };
}

/** Whether the passkey can sign in without a password; null if that is unknown. */
function signsInAlone(discoverable: boolean | undefined, verified: boolean): boolean | null {
  if (discoverable === false) return false;
  // A browser may omit `credProps`, and a security key may get a PIN later. The first sign-in shows
  // whether the passkey can.
  return discoverable === true && verified ? true : null;
}

/**
 * Whether the answer has an attestation other than `none` and self attestation. The library would
 * fetch the revocation list that a certificate in it names, past the outbound guard (security S9).
 */
async function bearsCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  try {
    const decoded = decodeAttestationObject(
      new Uint8Array(Buffer.from(attestationObject, 'base64url')),
    );
    const format = decoded.get('fmt');
    // Self attestation, which browsers may leave in (WebAuthn §5.1.3), has no certificate.
    const own = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined;
    return format !== 'none' && !own;
  } catch {
    return false;
  }
}
