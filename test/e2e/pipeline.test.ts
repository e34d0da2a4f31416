import { afterAll, beforeAll, describe, test } from 'vitest';
import { counterpartMissing } from '../support/counterpart.ts';
import { createClient } from '../support/http.ts';
import { clientSecret, type SignOnSite, startSignOnSite } from '../support/sign-on-site.ts';
import { playTranscript } from '../support/transcript.ts';

describe.skipIf(counterpartMissing('bind9')).each([
  ['on the host', '', '0'],
  ['over the network', '--server far', '1'],
])('an organization as a document, %s', (_, at, waiting) => {
  let site: SignOnSite;
  beforeAll(async () => {
    site = await startSignOnSite(['Developers']);
  });
  afterAll(() => site?.stop());

  test('spec §3.1, §4.1: a pipeline applies a document, and a person signs in with a role', async () => {
    const client = () => createClient(`http://127.0.0.1:${site.port}`);
    await playTranscript(`${import.meta.dirname}/pipeline.transcript`, {
      env: { ...(await site.env()), IDCTL_SECRET_CLIENT: clientSecret },
      values: { port: String(site.port), issuer: site.issuer, at, there: at && ` ${at}`, waiting },
      commands: {
        publish: async (name = '', value = '') => {
          await site.bind.publishTxt(name, value);
          return '';
        },
        start: async (domain = '') => {
          const answer = await client().send('GET', `/auth/sso/start?domain=${domain}`);
          return String(Object(answer.body).authorizationUrl);
        },
        'sign-in': (account = '', url = '') => site.signIn(account, url),
        finish: async (path = '') => String((await client().send('GET', path)).status),
      },
    });
  }, 180_000);
});
