import { orderedId } from '../../src/crypto/id.ts';
import { Passkey } from '../../src/database/models/passkey.ts';
import { transaction } from '../../src/database/transaction.ts';
import { authenticatorAt, type HeldPasskey, type Twist } from './authenticator.ts';
import { person, signedIn } from './builders.ts';
import type { Answer, Client } from './http.ts';
import type { Idctl } from './idctl.ts';

/** A base URL at which passkeys work: https with a host name. */
export const passkeySite = 'https://id.example.test';

const authenticator = authenticatorAt(passkeySite);

/** Makes a passkey and adds it, in a signed-in browser. */
export async function addPasskey(client: Client, twist: Twist = {}, more: object = {}) {
  const asked = await client.post('/api/v1/me/passkeys/options');
  if (asked.status !== 200) return { answer: asked, held: authenticator.create(none).held };
  const { held, credential } = authenticator.create(asked.body, twist);
  return { answer: await client.post('/api/v1/me/passkeys', { credential, ...more }), held };
}

const none = { challenge: '', user: { id: '' } };

/** Signs in with a passkey alone. */
export async function signInByPasskey(client: Client, held: HeldPasskey, twist: Twist = {}) {
  const { body } = await client.post('/api/v1/auth/passkey/options');
  const credential = authenticator.get(held, body, twist);
  return client.post('/api/v1/auth/passkey', { credential });
}

/** The answer of a passkey to the options that a refusal or a page contains. */
export function answerTo({ body }: Pick<Answer, 'body'>, held: HeldPasskey, twist: Twist = {}) {
  return authenticator.get(held, body.passkeyOptions, twist);
}

/** The options for a passkey in a page, as `answerTo` takes them; null if there are none. */
export function optionsIn({ body }: Answer): Pick<Answer, 'body'> | null {
  const text = /data-options="([^"]*)"/.exec(String(body))?.[1];
  if (text === undefined) return null;
  return { body: { passkeyOptions: JSON.parse(text.replaceAll('&quot;', '"')) } };
}

/**
 * Creates a person with a password and a passkey, and a browser in which the person is signed in.
 */
export async function personWithPasskey(idctl: Idctl, email?: string) {
  const account = await person(idctl, email);
  const browser = await signedIn(idctl, account.email);
  const { answer, held } = await addPasskey(browser);
  if (answer.status !== 201) throw new Error(`no passkey: ${JSON.stringify(answer.body)}`);
  return { account, browser, held, passkey: String(answer.body.id) };
}

/** Adds a passkey's row without a real key, so that no sign-in can use it. Returns its id. */
export async function keepPasskey(accountId: string): Promise<string> {
  const id = orderedId();
  const row = { id, accountId, name: 'Spare', credentialId: id, publicKey: 'none', counter: 0 };
  const none = { transports: [], backupEligible: false, backedUp: false, vouchedBy: null };
  await transaction(() => Passkey.create({ ...row, ...none, createdAt: new Date() }));
  return id;
}
