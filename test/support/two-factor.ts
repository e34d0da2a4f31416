import { generateSync } from 'otplib';
import { person, signedIn } from './builders.ts';
import type { Idctl } from './idctl.ts';

/** Turns the second factor of an account on, and returns what gives the current code. */
export async function enrolOwn(idctl: Idctl, account: { email: string | null }) {
  const client = await signedIn(idctl, account.email);
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = () =>
    generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
  await client.post('/api/v1/me/totp/confirm', { code: code() });
  idctl.wait(60);
  return code;
}

/** Someone with the second factor on; the step of the enrolment is behind them, and `code` gives the current one. */
export async function enrolled(idctl: Idctl, email?: string) {
  const account = await person(idctl, email);
  const client = await signedIn(idctl, account.email);
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = () =>
    generateSync({ secret, epoch: Math.floor(idctl.app.clock().getTime() / 1000) });
  await client.post('/api/v1/me/totp/confirm', { code: code() });
  idctl.wait(60);
  return { account, client, code };
}
