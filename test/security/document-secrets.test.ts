import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { foundCompany } from '../support/company.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { migratedDatabaseUrl } from '../support/database.ts';
import { openIdctl } from '../support/idctl.ts';
import { freePorts, portOf } from '../support/ports.ts';
import { driverSetting } from '../support/sqlite-driver.ts';
import { typeLine } from '../support/typing.ts';

// The documents of an attacker, typed by an honest person, on the host and on a remote server.

const secret = 'value-of-the-idp';
let folder: string;
let daemon: Daemon;
let proxy: Server;
/** All that the command line has sent to the server. */
let sent: string;
let host: Record<string, string>;
let remote: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-document-'));
  const place = { url: await migratedDatabaseUrl(), keyFile: join(folder, 'master.key') };
  await createKeyFile(place.keyFile);
  const [port = 0] = await freePorts(1);
  const idctl = await openIdctl({ baseUrl: `http://127.0.0.1:${port}` }, place);
  const company = await foundCompany(idctl);
  const named = { user: company.owner.id, name: 'ci', scope: 'admin' } as const;
  const { token } = await createToken(idctl.operator(), named);
  await idctl.close();
  daemon = await startDaemon({ database: place.url, keyFile: place.keyFile, port });
  proxy = await recorder();
  const common = { ...driverSetting, HOME: folder, IDCTL_SECRET_IDP: secret };
  host = { ...common, IDCTL_DATABASE: place.url, IDCTL_KEY_FILE: place.keyFile };
  const server = `http://127.0.0.1:${portOf(proxy)}`;
  remote = { ...common, IDCTL_SERVER: server, IDCTL_TOKEN: token };
}, 240_000);

afterAll(async () => {
  proxy?.close().closeAllConnections();
  await daemon?.stop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  sent = '';
});

/** A server that passes each request on to the daemon, and keeps its body. */
async function recorder(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    sent += body.toString();
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const answer = await fetch(`${daemon.url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, ...(type === '' ? {} : { 'content-type': type }) },
      ...(body.length === 0 ? {} : { body }),
    });
    const headers = { 'content-type': answer.headers.get('content-type') ?? '' };
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return server;
}

const connection = (clientSecret: object | string, issuer = 'https://idp.acme.test') => ({
  idctl: 1,
  sso: { emailDomain: 'acme.test', issuer, clientId: 'c', clientSecret },
});

async function type(words: string, document: object, env: Record<string, string>) {
  const path = join(folder, 'acme.yaml');
  await writeFile(path, JSON.stringify(document));
  return typeLine([...words.split(' '), '-f', path, '--org', 'acme'], env);
}

const fromVariable = () => connection({ env: 'IDCTL_SECRET_IDP' });
const named = 'sso.clientSecret for idp.acme.test, from the variable IDCTL_SECRET_IDP';

test('X12 from afar, a plan does not send a secret, names its source and host, and exits with 8', async () => {
  const { exit, out, err } = await type('plan', fromVariable(), remote);
  expect(out).toContain(`  ${named} (not compared)\n`);
  expect(err).toContain('1 secret not compared');
  expect(err).toContain(`add --with-secrets. This sends them to ${remote['IDCTL_SERVER']}.`);
  expect(exit).toBe(8);
  expect(sent).toContain('{"withheld":true}');
  expect(sent).not.toContain(secret);
});

test('X12 from afar, an apply asks before it sends a secret, and --yes is the answer in a script', async () => {
  const asked = await type('apply', fromVariable(), remote);
  expect(asked).toMatchObject({ exit: 2, out: '' });
  expect(asked.err).toContain(`${named}\n`);
  expect(asked.err).toContain(`Send sso.clientSecret to ${remote['IDCTL_SERVER']}?`);
  expect(await type('apply --dry-run', fromVariable(), remote)).toMatchObject({ exit: 8 });
  expect(sent).not.toContain(secret);
  const applied = await type('apply --yes', fromVariable(), remote);
  expect(applied).toMatchObject({ exit: 0, out: expect.stringContaining(`  ${named}\n`) });
  expect(sent).toContain(secret);
});

test('X12 from afar, a secret that the document itself contains is refused and not sent', async () => {
  for (const given of [{ value: secret }, secret, { file: 'none', value: secret }])
    for (const words of ['plan', 'plan --with-secrets', 'apply --yes']) {
      const { exit, err } = await type(words, connection(given), remote);
      expect(exit).toBe(2);
      expect(err).toContain('must be {env: NAME}, {file: PATH} or {unchanged: true}');
      expect(err).not.toContain(secret);
    }
  expect(sent).toContain('{"withheld":true}');
  expect(sent).not.toContain(secret);
});

test('X12 with --with-secrets, a plan from afar compares the secret, as on the host', async () => {
  await type('apply --yes', fromVariable(), host);
  const withheld = await type('plan', fromVariable(), remote);
  expect(withheld).toMatchObject({
    exit: 8,
    err: expect.stringContaining('Nothing to change, 1 secret not compared.'),
  });
  const there = await type('plan --with-secrets', fromVariable(), remote);
  expect(there).toMatchObject({ exit: 0, out: expect.stringContaining(`  ${named}\n`) });
  expect(await type('plan', fromVariable(), host)).toEqual(there);
  const other = { IDCTL_SECRET_IDP: 'other' };
  const changed = await type('plan --with-secrets', fromVariable(), { ...remote, ...other });
  expect(changed).toMatchObject({ exit: 8, out: expect.stringContaining('clientSecret changed') });
});

test('X12 with --json, a plan and an apply name each source and host too', async () => {
  const secrets = [{ field: 'sso.clientSecret', env: 'IDCTL_SECRET_IDP', host: 'idp.acme.test' }];
  const json = async (words: string, env: Record<string, string>) =>
    JSON.parse((await type(`${words} --json`, fromVariable(), env)).out);
  const withheld = { secrets, notCompared: ['sso.clientSecret'] };
  expect(await json('plan', remote)).toMatchObject(withheld);
  expect(await json('apply --dry-run', remote)).toMatchObject(withheld);
  expect(await json('plan', host)).toMatchObject({ secrets, notCompared: [] });
  const done = { secrets, applied: true };
  expect(await json('apply --yes', host)).toMatchObject(done);
  const other = { ...remote, IDCTL_SECRET_IDP: 'other' };
  expect(await json('apply --yes', other)).toMatchObject(done);
  expect(await json('apply --yes', remote)).toMatchObject(done);
});

test('X12 --allow-env can be repeated, and --secrets names a folder of files', async () => {
  await type('apply --yes', fromVariable(), host);
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, 'idp'), secret);
  const env = { ...host, SOME: 'x', OTHER: 'y' };
  const variable = connection({ env: 'OTHER' });
  expect(await type('plan', variable, env)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('to allow this variable, add --allow-env OTHER'),
  });
  const allowed = await type('plan --allow-env SOME --allow-env OTHER', variable, env);
  expect(allowed.out).toContain('from the variable OTHER');
  const { exit, out } = await type(`plan --secrets ${elsewhere}`, connection({ file: 'idp' }), env);
  expect([exit, out]).toEqual([0, expect.stringContaining(`from the file ${elsewhere}/idp`)]);
});

test('X12 a hostile document cannot send the master key to its own directory or provider', async () => {
  await symlink('master.key', join(folder, 'soft'));
  await link(join(folder, 'master.key'), join(folder, 'hard'));
  const key = /^[\w+/=-]{40,}$/m.exec(await readFile(join(folder, 'master.key'), 'utf8'))?.[0];
  expect(key).toBeDefined();
  const before = await typeLine(['export', '--org', 'acme'], host);
  const files = ['master.key', join(folder, 'master.key'), '../../etc/passwd', 'soft', 'hard'];
  // The person on the remote server has a copy of the key at a usual place.
  const usual = join(folder, '.config/idctl/master.key');
  await mkdir(join(folder, '.config/idctl'), { recursive: true });
  await writeFile(usual, await readFile(join(folder, 'master.key')), { mode: 0o600 });
  const ldap = (file: string) => ({
    idctl: 1,
    ldap: {
      uri: 'ldaps://directory.attacker.test',
      bindDn: 'cn=idctl,dc=attacker,dc=test',
      bindPassword: { file },
      searchBase: 'dc=attacker,dc=test',
      searchFilter: '(uid={username})',
      emailAttribute: 'mail',
      enabled: true,
    },
  });
  const evil = 'https://idp.attacker.test';
  for (const [env, list] of [
    [host, files],
    [{ ...remote, IDCTL_KEY_FILE: join(folder, 'master.key') }, [...files, usual]],
  ] as const)
    for (const file of list)
      for (const document of [ldap(file), connection({ file }, evil)])
        for (const words of ['plan', 'plan --with-secrets', 'apply --yes']) {
          const { exit, out, err } = await type(words, document, env);
          expect([exit, out]).toEqual([2, '']);
          expect(err).toMatch(/one of idctl's own files|is not below the document's folder/);
        }
  expect(sent).not.toContain(key);
  expect(sent).not.toContain('root:');
  expect(await typeLine(['export', '--org', 'acme'], host)).toEqual(before);
});
