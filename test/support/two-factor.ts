import { generateSync } from 'otplib';
import { person, signedIn } from './builders.ts';
import type { Client } from './http.ts';
import type { Idctl } from './idctl.ts';

/** Enrols an authenticator app. */
async function authenticatorApp(idctl: Idctl, client: Client) {
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = () =>
    generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
  const answer = await client.post('/api/v1/me/totp/confirm', { code: code() });
  if (answer.status !== 200) throw new Error(`enrolment answered ${answer.status}`);
  return { code };
}

/** Turns the second factor of an account on, and returns what gives the current code. */
export async function enrolOwn(idctl: Idctl, account: { email: string | null }) {
  const client = await signedIn(idctl, account.email);
  const { code } = await authenticatorApp(idctl, client);
  idctl.wait(60);
  return code;
}

/** Someone with the second factor on; the step of the enrolment is behind them, and `code` gives the current one. */
export async function enrolled(idctl: Idctl, email?: string) {
  const account = await person(idctl, email);
  const client = await signedIn(idctl, account.email);
  const { code } = await authenticatorApp(idctl, client);
  idctl.wait(60);
  return { account, client, code };
}

/** Turns an authenticator on; `confirm` answers `POST /auth/confirm` with its next code. */
export async function enrol(idctl: Idctl, client: Client, by: Client = client) {
  const { code } = await authenticatorApp(idctl, by);
  idctl.wait(60);
  return () => client.post('/api/v1/auth/confirm', { totpCode: code() });
}
