import { generateSync } from 'otplib';
import { person, signedIn } from './builders.ts';
import type { Client } from './http.ts';
import type { Idctl } from './idctl.ts';

/** The current code of a secret. */
export function codeOf(idctl: Idctl, secret: string): string {
  return generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
}

/** Enrols an authenticator app. */
async function authenticatorApp(idctl: Idctl, client: Client) {
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = () => codeOf(idctl, secret);
  const answer = await client.post('/api/v1/me/totp/confirm', { code: code() });
  if (answer.status !== 200) throw new Error(`enrolment answered ${answer.status}`);
  return { code };
}

/** Turns on the second factor of an account, and returns a function that gives the current code. */
export async function enrolOwn(idctl: Idctl, account: { email: string | null }) {
  const client = await signedIn(idctl, account.email);
  const { code } = await authenticatorApp(idctl, client);
  idctl.wait(60);
  return code;
}

/**
 * Creates a person with a second factor. The enrolment's code is spent, and `code` gives the
 * current code.
 */
export async function enrolled(idctl: Idctl, email?: string) {
  const account = await person(idctl, email);
  const client = await signedIn(idctl, account.email);
  const { code } = await authenticatorApp(idctl, client);
  idctl.wait(60);
  return { account, client, code };
}

/**
 * Enrols an authenticator app, and returns a function that sends its current code to `POST
 * /auth/confirm`.
 */
export async function enrol(idctl: Idctl, client: Client, by: Client = client) {
  const { code } = await authenticatorApp(idctl, by);
  idctl.wait(60);
  return () => client.post('/api/v1/auth/confirm', { totpCode: code() });
}
