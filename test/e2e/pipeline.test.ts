import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Bind, startBind } from '../support/bind.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { freePorts } from '../support/ports.ts';
import { playTranscript } from '../support/transcript.ts';

const secret = 'the-client-secret-of-idctl';

describe.skipIf(counterpartMissing('bind9')).each([
  ['on the host', 'idctl', ''],
  ['from afar', 'idctl', '--server far'],
])('an organization as a file, %s', (_, idctl, at) => {
  let bind: Bind;
  let provider: OpenIdProvider;
  let port: number;

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    const redirect = `http://127.0.0.1:${port}/auth/sso/callback`;
    bind = await startBind('acme.test');
    provider = await startOpenIdProvider({
      clients: [{ client_id: 'idctl', client_secret: secret, redirect_uris: [redirect] }],
      people: {
        ada: {
          email: 'ada@acme.test',
          email_verified: true,
          name: 'Ada Byron',
          groups: ['Developers'],
        },
      },
    });
  });

  afterAll(async () => {
    await provider?.stop();
    await bind?.stop();
  });

  test('spec §3.1, §4.1: a pipeline applies a document, and a person signs in with a role', async () => {
    const client = () => createClient(`http://127.0.0.1:${port}`);
    await playTranscript(`${import.meta.dirname}/pipeline.transcript`, {
      env: {
        IDCTL_DATABASE: await freshDatabaseUrl(),
        IDCTL_DOH_RESOLVER_URL: bind.resolverUrl,
        IDCTL_DOH_CA_FILE: bind.caFile,
        IDCTL_OUTBOUND_ALLOW: '127.0.0.1',
        CLIENT_SECRET: secret,
      },
      values: { port: String(port), issuer: provider.issuer, idctl, at },
      commands: {
        publish: async (name = '', value = '') => {
          await bind.publishTxt(name, value);
          return '';
        },
        start: async (domain = '') => {
          const answer = await client().send('GET', `/auth/sso/start?domain=${domain}`);
          return String(Object(answer.body).authorizationUrl);
        },
        'sign-in': async (account = '', url = '') => {
          const { pathname, search } = new URL(await provider.signIn(url, account));
          return pathname + search;
        },
        finish: async (path = '') => String((await client().send('GET', path)).status),
      },
    });
  }, 180_000);
});
