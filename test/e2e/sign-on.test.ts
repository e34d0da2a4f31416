import { afterAll, beforeAll, describe, it } from 'vitest';
import { counterpartMissing } from '../support/counterpart.ts';
import { createClient } from '../support/http.ts';
import { clientSecret, type SignOnSite, startSignOnSite } from '../support/sign-on-site.ts';
import { playTranscript } from '../support/transcript.ts';

describe.skipIf(counterpartMissing('bind9'))('from an empty instance to a sign-in', () => {
  let site: SignOnSite;
  beforeAll(async () => {
    site = await startSignOnSite();
  });
  afterAll(() => site?.stop());

  it('spec §3.1, §4.1: an operator verifies a domain over DNS and connects a provider, and a person signs in', async () => {
    await playTranscript(`${import.meta.dirname}/sign-on.transcript`, {
      env: await site.env(),
      values: { port: String(site.port), issuer: site.issuer, secret: clientSecret },
      commands: {
        GET: (path = '', ...header) => ask('GET', path, header),
        POST: (path = '', ...rest) => ask('POST', path, rest),
        publish: async (name = '', value = '') => {
          await site.bind.publishTxt(name, value);
          return '';
        },
        'sign-in': (account = '', url = '') => site.signIn(account, url),
      },
    });
  }, 180_000);

  /** Sends a request with `[BODY] [header: value]`; returns status, body and cookies as lines. */
  async function ask(method: string, path: string, words: string[]): Promise<string> {
    const body = words[0]?.startsWith('{') ? words[0] : undefined;
    const [name, ...value] = body === undefined ? words : words.slice(1);
    const headers = name === undefined ? {} : { [name.replace(/:$/, '')]: value.join(' ') };
    const answer = await createClient(`http://127.0.0.1:${site.port}`).send(method, path, {
      body,
      headers,
    });
    const cookies = answer.cookies.map((cookie) => {
      const manners = `Path=${cookie.path} ${cookie.httpOnly ? 'HttpOnly ' : ''}SameSite=${cookie.sameSite}`;
      return `set-cookie: ${cookie.name}=${cookie.value} ${manners}`;
    });
    return [`${answer.status} ${JSON.stringify(answer.body)}`.replace(/ ""$/, ''), ...cookies].join(
      '\n',
    );
  }
});
