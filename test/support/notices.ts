import { expect } from 'vitest';
import { password, person } from './builders.ts';
import type { Client } from './http.ts';
import type { MailingIdctl } from './mail.ts';
import type { Letter } from './smtp.ts';
import { codeOf } from './two-factor.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

/** A person, a browser in which the person is signed in, and the instance. */
export interface Arrived {
  id: string;
  email: string;
  client: Client;
  site: MailingIdctl;
}

/** A new browser, by default Firefox on Linux. */
export function browserAt(site: MailingIdctl, userAgent = firefox): Client {
  return site.client({ keepCookies: true, headers: { 'user-agent': userAgent } });
}

/** A person who signs in for the first time, in Firefox on Linux. */
export async function arrived(site: MailingIdctl, address?: string): Promise<Arrived> {
  const { id, email } = await person(site, address);
  const client = browserAt(site);
  expect((await client.post('/api/v1/auth/login', { email, password })).status).toBe(200);
  return { id, email: email ?? '', client, site };
}

/** Adds an authenticator app. Returns a function that gives its current code, and the codes. */
export async function withTotp({ client, site }: Pick<Arrived, 'client' | 'site'>) {
  const { secret } = (await client.post('/api/v1/me/totp')).body;
  const code = () => codeOf(site, secret);
  const answer = await client.post('/api/v1/me/totp/confirm', { code: code() });
  expect(answer.status).toBe(200);
  site.wait(60);
  const recoveryCodes: string[] = answer.body.recoveryCodes;
  return { code, secret: String(secret), recoveryCodes };
}

/** The letters to the person, with line ends as in Unix. */
export async function lettersOf({
  email,
  site,
}: Pick<Arrived, 'email' | 'site'>): Promise<Letter[]> {
  const letters = await site.lettersTo(email);
  return letters.map((letter) => ({ ...letter, text: letter.text.replaceAll('\r\n', '\n') }));
}

/** The subjects of the letters to the person. */
export async function subjectsOf(who: Pick<Arrived, 'email' | 'site'>): Promise<string[]> {
  return (await lettersOf(who)).map(({ subject }) => subject);
}
