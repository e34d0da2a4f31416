import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Event } from '../../src/database/models/event.ts';
import { Sweep } from '../../src/database/models/sweep.ts';
import { transaction } from '../../src/database/transaction.ts';
import { after } from '../../src/services/foundation/time.ts';
import { announceDaemon, dismissDaemon } from '../../src/services/instance/daemons.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { appOf } from '../support/apps.ts';
import { type Bind, startBind } from '../support/bind.ts';
import { organization, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { main, surroundings } from '../support/daemon.ts';
import { dialect, freshDatabaseUrl } from '../support/database.ts';
import { serve } from '../support/fake-server.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { joined, settingsFor } from '../support/ldap.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { freePorts } from '../support/ports.ts';
import { type Slapd, service, startSlapd, suffix } from '../support/slapd.ts';
import { connected, registration } from '../support/sso.ts';

interface Check {
  name: string;
  ok: boolean;
  expected: string;
  message: string;
  hint?: string;
}

const absent = counterpartMissing('slapd') || counterpartMissing('bind9');

describe.skipIf(absent)('interface page: idctl doctor', { timeout: 120_000 }, () => {
  let idctl: Idctl;
  let bind: Bind;
  let provider: OpenIdProvider;
  let slapd: Slapd;
  let expired: Slapd;

  beforeAll(async () => {
    [bind, slapd, expired] = await Promise.all([
      startBind('example.com'),
      startSlapd(),
      startSlapd({ expired: true }),
    ]);
    idctl = await openIdctl({ outbound: { allow: ['127.0.0.1', 'localhost'] } });
    provider = await startOpenIdProvider({
      clients: [
        {
          client_id: registration.clientId,
          client_secret: registration.clientSecret,
          redirect_uris: [`${idctl.baseUrl}/auth/sso/callback`],
        },
      ],
    });
  });
  afterAll(async () => {
    await Promise.all([
      idctl?.close(),
      provider?.stop(),
      slapd?.stop(),
      expired?.stop(),
      bind?.stop(),
    ]);
  });

  /** Runs `idctl doctor` on this instance in another process, and parses its answer. */
  async function doctor(words: string[] = [], env: Record<string, string> = {}) {
    const { config } = idctl.app;
    const settings = {
      IDCTL_CONFIG: join(config.keyFile, '../idctl.yaml'),
      IDCTL_DATABASE: config.database.url,
      IDCTL_KEY_FILE: config.keyFile,
      IDCTL_BASE_URL: config.baseUrl,
      IDCTL_OUTBOUND_ALLOW: '127.0.0.1,localhost',
      IDCTL_DOH_RESOLVER_URL: bind.resolverUrl,
      IDCTL_DOH_CA_FILE: bind.caFile,
      ...env,
    };
    await writeFile(settings.IDCTL_CONFIG, '# empty\n');
    const { code, out, err } = await run(['doctor', ...words], { ...surroundings(), ...settings });
    const view: { ok: boolean; checks: Check[] } = words.includes('--json')
      ? JSON.parse(out)
      : { checks: [] };
    const failed = Object.fromEntries(
      view.checks.filter(({ ok }) => !ok).map((each) => [each.name, each]),
    );
    return { code, out, err, view, failed };
  }

  test('prints a line for each check and exits with code 0 if there are no faults', async () => {
    const { org } = await connected(idctl, provider.issuer, { autoRemove: true });
    const { code, out, err } = await doctor(['--org', org.slug]);
    expect(err).toBe('');
    expect(out).toMatch(/^1 ok runtime: idctl .+ on Node 2.+\n2 ok configuration: /);
    expect(out).toContain(`ok base URL: ${idctl.baseUrl}\n`);
    expect(out).toContain(`ok single sign-on of ${org.slug}: ${provider.issuer}\n`);
    // Security I7: the connection has autoRemove, and an absent claim does not mean no groups.
    expect(out).toContain(`idctl sso set --org ${org.slug} --absent-groups none`);
    expect(out).toMatch(/\nNo check failed\.\n$/);
    expect(code).toBe(0);
  });

  test('X5 names a jump of the clock with exit code 1, until --confirm-clock', async () => {
    const { slug } = await organization(idctl);
    // As if the clock of this machine had jumped: no event is newer than the last sweep.
    const later = after(new Date(), 60);
    const kept = await Event.findAll();
    await transaction(() => Event.destroy({ where: {} }));
    await transaction(() => Sweep.update({ sweptAt: after(later, -500 * 86_400) }, { where: {} }));
    onTestFinished(async () => {
      await transaction(() => Event.bulkCreate(kept.map((row) => row.get())));
    });
    const named = await doctor(['--org', slug, '--json']);
    expect(named.code).toBe(1);
    expect(named.failed['sweep']).toMatchObject({
      message: expect.stringContaining('500 days ahead of the last sweep'),
      hint: expect.stringContaining('idctl doctor --confirm-clock'),
    });
    const confirmed = await doctor(['--org', slug, '--confirm-clock', '--json']);
    expect(confirmed.code).toBe(0);
    const sweep = confirmed.view.checks.find(({ name }) => name === 'sweep');
    expect(sweep?.message).toMatch(/^clock confirmed: .+Z$/);
    expect((await doctor(['--org', slug, '--json'])).code).toBe(0);
    const { out } = await doctor(['--org', slug, '--confirm-clock']);
    expect(out).toMatch(/ok sweep: last at .+Z; nothing to confirm: the clock has not jumped\n/);
  });

  test('O9 names the apps without an organization, as a note and not a fault', async () => {
    const { slug, owner } = await organization(idctl);
    const asking = await appOf(idctl, { user: owner.id, name: 'gateway', organization: slug });
    const minting = await appOf(idctl, { user: owner.id, name: 'builder' });
    const { view } = await doctor(['--org', slug, '--json']);
    const apps = view.checks.find(({ name }) => name === 'apps');
    expect(apps).toMatchObject({
      ok: true,
      hint: expect.stringContaining('idctl app set ID'),
    });
    expect(apps?.message).toContain(`builder of ${owner.email} (${minting.id})`);
    expect(apps?.message).not.toContain(asking.id);
  });

  test('names every planted fault, with one thing to change', async () => {
    const [nowhere] = await freePorts(1);
    const wrongIssuer = await connected(idctl, `${provider.issuer}/`);
    const otherName = await connected(idctl, provider.issuer.replace('127.0.0.1', 'localhost'));
    const wrongSecret = await connected(idctl, provider.issuer, { clientSecret: 'another' });
    const outOfDate = await joined(idctl, settingsFor(expired));
    const wrongBind = await joined(idctl, { ...settingsFor(slapd), bindPassword: 'wrong' });
    await slapd.apply(`dn: ou=nobody,${suffix}\nobjectClass: organizationalUnit\n`);
    const nobody = { ...settingsFor(slapd), ...service, searchBase: `ou=nobody,${suffix}` };
    const empty = await joined(idctl, nobody);
    const unused = await organization(idctl);
    await rotateScimToken(idctl.operator(), { org: unused.slug });
    const { code, view, failed } = await doctor(['--json'], {
      IDCTL_DOH_RESOLVER_URL: `https://127.0.0.1:${nowhere}/dns-query`,
      IDCTL_MAIL_SMTP_URL: `smtp://127.0.0.1:${nowhere}`,
      IDCTL_SIGNIN_PASSWORD: 'off',
      // Mailed codes are no way to sign in while mail does not work.
      IDCTL_SIGNIN_MAGIC_CODE: 'on',
    });
    expect(code).toBe(1);
    expect(view.ok).toBe(false);
    const seen = (name: string) => failed[name]?.message;
    expect(seen(`single sign-on of ${wrongIssuer.org.slug}`)).toMatch(
      /issuer, failed: the same except for a trailing slash/,
    );
    // Only the operator at the shell sees the other issuer (security S8).
    expect(seen(`single sign-on of ${otherName.org.slug}`)).toContain(
      `another issuer: ${provider.issuer}`,
    );
    expect(seen(`single sign-on of ${wrongSecret.org.slug}`)).toMatch(
      /client authentication, failed: not accepted/,
    );
    expect(seen(`directory of ${outOfDate.org.slug}`)).toMatch(/TLS, failed: .*not valid now/);
    expect(seen(`directory of ${wrongBind.org.slug}`)).toMatch(
      /service bind, failed: the name or the password/,
    );
    expect(seen(`directory of ${empty.org.slug}`)).toMatch(
      /filter, failed: the filter matches no entry/,
    );
    expect(seen('resolver')).toMatch(/refused the connection/);
    expect(seen('mail')).toMatch(/it refused the connection/);
    expect(failed['mail']?.hint).toBe(
      'Start the mail server, or correct host and port in mail.smtpUrl.',
    );
    expect(view.checks.find(({ name }) => name === 'clock')).toMatchObject({
      ok: true,
      skipped: true,
    });
    expect(seen(`SCIM of ${unused.slug}`)).toMatch(
      /^no call with this token yet at http.*\/scim\/v2\/orgs\//,
    );
    // The instance's settings decide, because the owner's address is on no verified domain.
    expect(seen(`owners of ${unused.slug}`)).toBe(`no way to sign in for ${unused.owner.email}`);
    for (const { hint, expected } of Object.values(failed)) {
      expect(hint).toMatch(/\w/);
      expect(expected).toMatch(/\w/);
    }
  });

  test('X3 reports a key file that is missing or readable by others, and still runs the checks that need no key', async () => {
    const { keyFile } = idctl.app.config;
    await rename(keyFile, `${keyFile}.away`);
    const missing = await doctor(['--json']);
    await rename(`${keyFile}.away`, keyFile);
    await chmod(keyFile, 0o644);
    const open = await doctor(['--json']);
    await chmod(keyFile, 0o600);
    expect(missing.failed['master key']?.message).toBe(`The master key ${keyFile} is missing.`);
    expect(missing.view.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['database', 'migrations', 'base URL', 'resolver', 'mail']),
    );
    expect(open.failed['master key']?.hint).toBe(`chmod 600 ${keyFile}`);
    expect([missing.code, open.code]).toEqual([1, 1]);
  });

  test('reports a database that is not migrated or cannot be reached, and an invalid configuration', async () => {
    const [nowhere] = await freePorts(1);
    const fresh = await freshDatabaseUrl();
    if (dialect === 'sqlite') await writeFile(fresh.slice('sqlite:'.length), '', { mode: 0o600 });
    const pending = await doctor(['--json'], { IDCTL_DATABASE: fresh });
    expect(pending.failed['migrations']).toMatchObject({
      hint: 'Restart the daemon, which applies them. If no daemon is running: idctl migrate',
    });
    expect(pending.failed['migrations']?.message).toMatch(/^0001-first and \d+ more not applied$/);
    const gone = await doctor(['--json'], {
      IDCTL_DATABASE: `postgres://x@127.0.0.1:${nowhere}/x`,
    });
    expect(gone.failed['database']?.message).toMatch(
      /^The database cannot be reached: connect ECONNREFUSED 127/,
    );
    const broken = await doctor([], { IDCTL_LISTEN: 'nowhere' });
    expect(broken.out).toMatch(
      /2 failed configuration\n {4}expected: .+\n {4}seen: .+IDCTL_LISTEN/,
    );
    expect(broken.out).toMatch(
      /\n1 of 2 checks failed\. Correct the configuration to run the other checks/,
    );
    const keyless = await doctor([], {
      IDCTL_KEY_FILE: '/nowhere/master.key',
      IDCTL_DATABASE: `postgres://x@127.0.0.1:${nowhere}/x`,
    });
    expect(keyless.out).toMatch(/ Correct the master key and the database to run the other checks/);
    expect([pending.code, gone.code, broken.code]).toEqual([1, 1, 1]);
  });

  test.skipIf(dialect !== 'sqlite')(
    'X8 reports a database file that other users can read',
    async () => {
      const file = idctl.app.config.database.url.slice('sqlite:'.length);
      await chmod(file, 0o644);
      const { failed } = await doctor(['--json', '--org', (await organization(idctl)).slug]);
      await chmod(file, 0o600);
      expect(failed['database files']).toMatchObject({ hint: `chmod 600 ${file}` });
      expect(Object.keys(failed)).toEqual(['database files']);
    },
  );

  test('refuses an unknown organization', async () => {
    const { code, err } = await doctor(['--org', 'nobody']);
    expect(err).toMatch(/^idctl: There is no organization "nobody"\.\n/);
    expect(code).toBe(1);
  });

  test('doctor and status report a base URL that differs from the base URL of the daemon', async () => {
    await verifiedDomain(idctl, (await organization(idctl)).slug);
    const { failed } = await doctor(['--json', '--org', (await organization(idctl)).slug], {
      IDCTL_BASE_URL: idctl.baseUrl.replace('127.0.0.1', 'localhost'),
    });
    const message = failed['base URL']?.message;
    expect(message).toMatch(/ is set up as http:\/\/127\.0\.0\.1:\d+$/);
    const { keyFile, database } = idctl.app.config;
    const { out } = await run(['status', '--json'], {
      ...surroundings(),
      IDCTL_DATABASE: database.url,
      IDCTL_KEY_FILE: keyFile,
      IDCTL_BASE_URL: idctl.baseUrl.replace('127.0.0.1', 'localhost'),
    });
    expect(JSON.parse(out).problems).toContainEqual(
      expect.stringContaining(`daemon: ${message}. Set baseUrl to the address`),
    );
  });

  test('reports that the daemon at the base URL serves another database', async () => {
    const other = {
      IDCTL_CONFIG: join(idctl.app.config.keyFile, '../other/idctl.yaml'),
      IDCTL_DATABASE: await freshDatabaseUrl(),
      IDCTL_BASE_URL: idctl.baseUrl,
    };
    expect((await run(['init', '--yes'], { ...surroundings(), ...other })).err).not.toContain(
      'idctl:',
    );
    const { failed } = await doctor(['--json'], {
      ...other,
      IDCTL_KEY_FILE: join(other.IDCTL_CONFIG, '../master.key'),
    });
    expect(failed['base URL']?.message).toBe(
      `the daemon at ${idctl.baseUrl} uses another database`,
    );
    const { out } = await run(['status'], { ...surroundings(), ...other });
    expect(out).toMatch(/\nDaemon: +the daemon at \S+ uses another database\. Start the daemon/);
  });

  test('says that the daemon at the base URL is running, but not ready', async () => {
    const { url } = await serve((_, response) => {
      response.statusCode = 503;
      response.end(JSON.stringify({ code: 'database_unreachable', detail: 'canary' }));
    });
    const { failed, out } = await doctor(['--json'], { IDCTL_BASE_URL: url });
    expect(failed['base URL']).toMatchObject({
      message: `the daemon at ${url} is not ready (database_unreachable)`,
      hint: 'The daemon is running. Correct the other faults, or read the reason in its log.',
    });
    expect(out).not.toContain('canary');
  });

  test('names the address of a daemon of this database that listens elsewhere', async () => {
    const id = randomUUID();
    const configuration = { file: 'none', digest: '', restDigest: '' };
    const daemon = { id, listen: 'http://127.0.0.1:9000', configuration, proxy: null };
    await announceDaemon(idctl.operator(), daemon);
    onTestFinished(() => dismissDaemon({ id }));
    const [nowhere] = await freePorts(1);
    const away = { IDCTL_BASE_URL: `http://127.0.0.1:${nowhere}` };
    const told = 'listens on http://127.0.0.1:9000. Run this command with the same listen';
    expect((await doctor(['--json'], away)).failed['base URL']?.hint).toContain(told);
    const { keyFile, database } = idctl.app.config;
    const own = { IDCTL_DATABASE: database.url, IDCTL_KEY_FILE: keyFile };
    const { out } = await run(['status'], { ...surroundings(), ...own, ...away });
    expect(out).toContain(told);
  });

  test('says whether to change the host name, the port or TLS if the base URL cannot be reached', async () => {
    const [nowhere] = await freePorts(1);
    const { slug } = await organization(idctl);
    const hintAt = async (baseUrl: string) => {
      const { failed } = await doctor(['--json', '--org', slug], { IDCTL_BASE_URL: baseUrl });
      return failed['base URL']?.hint;
    };
    expect(await hintAt(`http://127.0.0.1:${nowhere}`)).toContain(
      `The daemon listens on 127.0.0.1:8420. Set listen to 127.0.0.1:${nowhere}, or correct baseUrl`,
    );
    const encrypted = idctl.baseUrl.replace('http:', 'https:');
    expect(await hintAt(encrypted)).toMatch(
      /plain http\. .*proxy.* or set baseUrl to http:\/\/127/,
    );
    expect(await hintAt('https://id.absent.invalid')).toMatch(/^Make id\.absent\.invalid resolve/);
  });
});

/** Runs the program, and returns its exit code and output. */
function run(
  words: string[],
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}
