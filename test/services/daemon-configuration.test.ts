import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDomain, assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { saveLdap } from '../../src/services/tenancy/ldap/operations.ts';
import { saveLdapInput } from '../../src/services/tenancy/ldap/schema.ts';
import { saveSso } from '../../src/services/tenancy/sso/operations.ts';
import { saveSsoInput } from '../../src/services/tenancy/sso/schema.ts';
import type { Daemon } from '../support/daemon.ts';
import { type Installation, install } from '../support/installation.ts';
import { portOf } from '../support/ports.ts';

const older = 'The daemon is running with an older configuration.';

describe('a daemon and its configuration file', { timeout: 120_000 }, () => {
  let site: Installation;
  let daemon: Daemon;
  let provider: Server;
  let visits = 0;
  let configFile: string;
  let at: Record<string, string>;

  const write = (text: string) => writeFile(configFile, text);
  const say = async (line: string) => {
    const { out, err } = await site.run(line.split(' '), '', at);
    return out + err;
  };
  const reload = async (wanted: RegExp) => {
    const before = daemon.log().length;
    process.kill(daemon.pid, 'SIGHUP');
    await expect.poll(() => daemon.log().slice(before)).toMatch(wanted);
    return daemon.log().slice(before);
  };

  beforeAll(async () => {
    provider = createServer((_request, response) => {
      visits += 1;
      response.writeHead(404).end();
    });
    await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
    site = await install({
      prepare: async (operator) => {
        const org = 'acme';
        await addDomain(operator(), { org, domain: 'acme.test' });
        await assertDomain(operator(), { org, domain: 'acme.test' });
        const issuer = `http://127.0.0.1:${portOf(provider)}`;
        const client = { clientId: 'c', clientSecret: 's', enabled: true };
        await saveSso(
          operator(),
          saveSsoInput.parse({ org, emailDomain: 'acme.test', issuer, ...client }),
        );
        const people = {
          searchBase: 'dc=acme',
          searchFilter: '(uid={username})',
          emailAttribute: 'mail',
        };
        const service = { uri: 'ldaps://127.0.0.1:1', bindDn: 'cn=x', bindPassword: 'p' };
        await saveLdap(operator(), saveLdapInput.parse({ org, ...service, ...people }));
      },
    });
    configFile = join(site.folder, 'idctl.yaml');
    at = { IDCTL_CONFIG: configFile };
    await write('log:\n  level: info\n');
    daemon = await site.serve(at);
  });
  afterAll(async () => {
    await site?.close();
    provider?.close();
  });

  test('interface page: status, doctor and the connection tests say that the daemon runs with an older configuration file', async () => {
    // A daemon reports itself shortly after it is ready.
    const current = `running with the current ${configFile}`;
    await expect.poll(() => say('doctor --json')).toContain(current);
    expect(await say('status')).not.toContain(older);
    await write('# changed\nlog:\n  level: info\n');
    for (const line of ['status', 'doctor', 'sso test --org acme', 'ldap test --org acme']) {
      expect(await say(line), line).toContain(older);
      expect(await say(line), line).toContain(`Reload the daemon: kill -HUP ${daemon.pid}`);
    }
    await mkdir(join(site.folder, 'units'));
    await writeFile(join(site.folder, 'units', 'idctl.service'), '');
    at = { ...at, SYSTEMD_UNIT_PATH: join(site.folder, 'units') };
    expect(await say('status')).toContain(`${older} Reload the daemon: systemctl reload idctl`);
    await write('instance: { name: Other }\nlog:\n  level: info\n');
    expect(await say('status')).toContain(`${older} Restart the daemon (systemctl restart idctl).`);
    const { checks } = JSON.parse((await site.run(['doctor', '--json'], '', at)).out);
    expect(checks).toContainEqual(expect.objectContaining({ name: 'daemon', ok: false }));
    await write('log:\n  level: info\n');
    expect(await say('status')).not.toContain(older);
  });

  test('interface page: the digest covers the contents of the file, not the environment', async () => {
    const { out } = await site.run(['status'], '', { ...at, IDCTL_INSTANCE_NAME: 'Other' });
    expect(out).not.toContain(older);
  });

  test('X4 the stored digest of the file cannot be computed without the master key', async () => {
    const rows = await site.query('SELECT * FROM daemons');
    expect(rows).toHaveLength(1);
    const bare = createHash('sha256').update('log:\n  level: info\n');
    expect(JSON.stringify(rows)).not.toContain(bare.copy().digest('base64url'));
    expect(JSON.stringify(rows)).not.toContain(bare.digest('hex'));
  });

  test('security P9: the log says once that a proxy is not trusted; status and doctor name the setting', async () => {
    const ask = (headers: Record<string, string>) => fetch(`${daemon.url}/healthz`, { headers });
    const advice = 'If this proxy is yours, set http.trustedProxies: [127.0.0.1]';
    await ask({ 'x-request-id': 'a' });
    expect(await say('status')).not.toContain('trustedProxies');
    for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Forwarded-Proto'])
      await ask({ [name]: 'for=192.0.2.7' });
    expect(daemon.log().match(/"http\.trustedProxies"/g)).toHaveLength(1);
    await expect.poll(() => say('status')).toContain(advice);
    expect(await say('doctor')).toContain(advice);
    expect(daemon.log()).not.toContain('192.0.2.7');
  });

  test('SIGHUP applies outbound.allow at once, and the daemon then has the new configuration', async () => {
    await fetch(`${daemon.url}/auth/sso/start?domain=acme.test`);
    expect(visits).toBe(0);
    await write('log:\n  level: info\noutbound:\n  allow: [127.0.0.1]\n');
    expect(await say('status')).toContain(older);
    expect(await reload(/reloaded/)).toContain('"settings":"outbound.allow"');
    await fetch(`${daemon.url}/auth/sso/start?domain=acme.test`);
    expect(visits).toBeGreaterThan(0);
    await expect.poll(() => say('status')).not.toContain(older);
  });

  test('SIGHUP applies limits, mail, social and the log level', async () => {
    const settings = [
      'limits: { accountFailures: 3 }',
      'mail: { smtpUrl: "smtp://127.0.0.1:1" }',
      'social: { google: { clientId: id, clientSecret: secret } }',
      'log: { level: debug }',
      'outbound: { allow: [127.0.0.1] }',
    ];
    await write(settings.join('\n'));
    const said = await reload(/reloaded/);
    for (const key of [
      'limits.accountFailures',
      'mail.smtpUrl',
      'social.google.clientId',
      'log.level',
    ])
      expect(said).toContain(key);
    expect(said).not.toContain('secret"');
    const methods = await fetch(`${daemon.url}/api/v1/auth/methods?identifier=x@nowhere.test`);
    expect(await methods.json()).toMatchObject({ methods: expect.arrayContaining(['google']) });
    const code = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"a@b.test"}',
    };
    expect((await fetch(`${daemon.url}/api/v1/auth/magic-code`, code)).status).toBe(202);
  });

  test('after SIGHUP, the log names the settings that need a restart, and status still reports an older configuration', async () => {
    await write(
      'instance: { name: Other }\nlog: { level: info }\noutbound: { allow: [127.0.0.1] }\n',
    );
    const said = await reload(/restart/);
    expect(said).toContain('"settings":"instance.name"');
    expect(said).toContain('"level":"warn"');
    expect(await say('status')).toContain(older);
  });

  test('SIGHUP with a broken file changes nothing, and the log has the reason', async () => {
    await write('limits: { accountFailures: many }\n');
    const said = await reload(/not reloaded/);
    expect(said).toContain('limits.accountFailures');
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
  });

  test('status does not report an older configuration after the daemon has stopped', async () => {
    await write('log: { level: warn }\n');
    expect(await say('status')).toContain(older);
    expect(await daemon.stop()).toBe(0);
    expect(await say('status')).not.toContain(older);
    expect(await site.query('SELECT * FROM daemons')).toEqual([]);
  });
});
