import { afterAll, beforeAll, describe, it } from 'vitest';
import { counterpartMissing } from '../support/counterpart.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';
import { playTranscript } from '../support/transcript.ts';

describe.skipIf(counterpartMissing('slapd'))(
  'from an empty instance to a sign-in through the directory',
  () => {
    let slapd: Slapd;
    let port: number;

    beforeAll(async () => {
      [port = 0] = await freePorts(1);
      slapd = await startSlapd();
      await slapd.person('ada', { givenName: 'Ada', mail: 'ada@acme.test' });
      await slapd.apply(
        `dn: cn=dev,ou=groups,${suffix}\nobjectClass: groupOfNames\ncn: dev\nmember: uid=ada,ou=people,${suffix}\n`,
      );
    });
    afterAll(() => slapd?.stop());

    it('spec §4.2: an operator connects and tests a directory at the terminal, and a person signs in through it', async () => {
      const { ldaps: uri, ldap: starttls, ca } = slapd;
      await playTranscript(`${import.meta.dirname}/directory.transcript`, {
        env: { IDCTL_DATABASE: await freshDatabaseUrl(), IDCTL_OUTBOUND_ALLOW: '127.0.0.1' },
        values: { port: String(port), uri, starttls, ca, bind: service.bindPassword },
        commands: { 'sign-in': signIn },
      });
    }, 300_000);

    /** Signs a person in; returns the status, the body and the names of the cookies. */
    async function signIn(username = '', ...words: string[]): Promise<string> {
      const given = { username, password: words.join(' ') };
      const { status, body, cookies } = await createClient(`http://127.0.0.1:${port}`).post(
        '/auth/ldap/login',
        given,
      );
      return [`${status} ${JSON.stringify(body)}`, ...cookies.map(({ name }) => name)].join('\n');
    }
  },
);
