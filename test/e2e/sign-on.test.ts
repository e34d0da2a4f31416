import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Bind, startBind } from '../support/bind.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { freePorts } from '../support/ports.ts';
import { playTranscript } from '../support/transcript.ts';

const secret = 'the-client-secret-of-idctl';

describe.skipIf(counterpartMissing('bind9'))('from nothing to a person who signed in', () => {
  let bind: Bind;
  let provider: OpenIdProvider;
  let port: number;

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    const redirect = `http://127.0.0.1:${port}/auth/sso/callback`;
    bind = await startBind('acme.test');
    provider = await startOpenIdProvider({
      clients: [{ client_id: 'idctl', client_secret: secret, redirect_uris: [redirect] }],
      people: { ada: { email: 'ada@acme.test', email_verified: true, name: 'Ada Byron' } },
    });
  });

  afterAll(async () => {
    await provider?.stop();
    await bind?.stop();
  });

  it('spec §3.1, §4.1: a domain is verified over DNS, a provider connected, and a person signs in', async () => {
    await playTranscript(`${import.meta.dirname}/sign-on.transcript`, {
      env: {
        IDCTL_DATABASE: await freshDatabaseUrl(),
        IDCTL_DOH_RESOLVER_URL: bind.resolverUrl,
        IDCTL_DOH_CA_FILE: bind.caFile,
        IDCTL_OUTBOUND_ALLOW: '127.0.0.1',
      },
      values: { port: String(port), issuer: provider.issuer, secret },
      commands: {
        GET: (path = '', ...header) => ask('GET', path, header),
        POST: (path = '', ...rest) => ask('POST', path, rest),
        publish: async (name = '', value = '') => {
          await bind.publishTxt(name, value);
          return '';
        },
        'sign-in': async (account = '', url = '') => pathOf(await provider.signIn(url, account)),
      },
    });
  }, 180_000);

  /** One request, as `[BODY] [header: value]`; its status, body and cookies as lines. */
  async function ask(method: string, path: string, words: string[]): Promise<string> {
    const body = words[0]?.startsWith('{') ? words[0] : undefined;
    const [name, ...value] = body === undefined ? words : words.slice(1);
    const headers = name === undefined ? {} : { [name.replace(/:$/, '')]: value.join(' ') };
    const answer = await createClient(`http://127.0.0.1:${port}`).send(method, path, {
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

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
