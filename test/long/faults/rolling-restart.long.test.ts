import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../src/services/people/tokens/operations.ts';
import { createAuthority } from '../../support/certificates.ts';
import { counterpartMissing } from '../../support/counterpart.ts';
import { startDaemon } from '../../support/daemon.ts';
import { dialect } from '../../support/database.ts';
import { install } from '../../support/installation.ts';
import { documentedNginx, startNginx } from '../../support/nginx.ts';
import { freePorts } from '../../support/ports.ts';

test.skipIf(dialect !== 'postgres' || counterpartMissing('nginx'))(
  'if three daemons behind the documented nginx restart in turn, at most three requests are cut off',
  async () => {
    let token = '';
    const site = await install({
      prepare: async (operator) => {
        ({ token } = await createToken(operator(), {
          user: 'olga@acme.test',
          name: 'ci',
          scope: 'admin',
        }));
      },
    });
    onTestFinished(() => site.close());
    const [tls = 0, http = 0, ...ports] = await freePorts(5);
    const origin = `https://localhost:${tls}`;
    const { database, keyFile } = site;
    const env = { IDCTL_BASE_URL: origin, IDCTL_HTTP_TRUSTED_PROXIES: '127.0.0.1' };
    const start = (port: number) => startDaemon({ database, keyFile, port, env });
    const daemons = await Promise.all(ports.map(start));
    onTestFinished(async () => {
      await Promise.all(daemons.map((daemon) => daemon.stop()));
    });
    const authority = await createAuthority(site.folder);
    const { certFile, keyFile: tlsKey } = await authority.issue('DNS:localhost');
    const config = documentedNginx({ tls, http, certFile, keyFile: tlsKey, daemons });
    const nginx = await startNginx(config, tls);
    onTestFinished(() => nginx.stop());
    const ca = await readFile(authority.caFile, 'utf8');
    const dispatcher = new Agent({ connect: { ca, family: 4 } });
    onTestFinished(() => dispatcher.close());

    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const counts = new Map<number, number>();
    let [running, made] = [true, 0];
    const ask = async (at: number) => {
      made += 1;
      const project = JSON.stringify({ name: 'Project', slug: `project-${made}` });
      const answer = await request(
        `${origin}/api/v1/${at % 2 > 0 ? 'me' : 'orgs/acme/projects'}`,
        at % 2 > 0
          ? { dispatcher, headers }
          : { method: 'POST', dispatcher, headers, body: project },
      );
      await answer.body.dump();
      counts.set(answer.statusCode, (counts.get(answer.statusCode) ?? 0) + 1);
    };
    const load = Array.from({ length: 6 }, async (_, at) => {
      while (running) await ask(at);
    });
    const answered = () => counts.get(201) ?? 0;
    for (const [at, port] of ports.entries()) {
      const before = answered();
      expect(await daemons[at]?.stop()).toBe(0);
      // The other daemons still serve.
      await expect.poll(answered).toBeGreaterThan(before + 20);
      daemons[at] = await start(port);
      await pause(200);
    }
    running = false;
    await Promise.all(load);
    const { 200: read, 201: written, ...others } = Object.fromEntries(counts);
    expect([read, written]).toEqual([expect.any(Number), expect.any(Number)]);
    const cut = Object.values(others).reduce((sum, count) => sum + count, 0);
    expect([Object.keys(others).filter((status) => status !== '502'), cut > 3]).toEqual([
      [],
      false,
    ]);
  },
  120_000,
);
