import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LoadOptions, loadConfig } from '../../src/config/load.ts';
import { hintLike } from '../support/hints.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-config-'));
  file = join(folder, 'idctl.yaml');
});

afterEach(() => rm(folder, { recursive: true }));

/** Loads a configuration file with this text, without other sources. */
async function load(text: string, more: Partial<LoadOptions> = {}) {
  await writeFile(file, text, { mode: 0o600 });
  return loadConfig({ file, env: {}, uid: 1000, cwd: folder, ...more });
}

const refused = (message: string, hint?: string) =>
  expect.objectContaining({
    code: 'config_invalid',
    message: expect.stringContaining(message),
    ...(hint === undefined ? {} : { hint: hintLike(hint) }),
  });

test('an empty file gives the defaults, with key and database beside the file', async () => {
  const { config, file: read, origins, warnings } = await load('');
  expect(config).toMatchObject({
    listen: '127.0.0.1:8420',
    baseUrl: 'http://127.0.0.1:8420',
    keyFile: join(folder, 'master.key'),
    database: { url: `sqlite:${join(folder, 'idctl.db')}`, sqliteDriver: 'node' },
    trust: { domains: 'enforce' },
    password: { argon2: { memory: 19456, time: 2, lanes: 1 }, minLength: 8 },
    orgs: { creation: 'operator' },
  });
  expect(read).toBe(file);
  expect(new Set(origins.values())).toEqual(new Set(['default']));
  expect(warnings).toEqual([]);
});

test('the environment overrides the file, and options override both', async () => {
  const text = 'listen: 127.0.0.1:1\ninstance:\n  name: from the file\nlog:\n  level: debug\n';
  const env = { IDCTL_INSTANCE_NAME: 'from the environment', IDCTL_LISTEN: '127.0.0.1:2' };
  const { config, origins } = await load(text, { env, overrides: { listen: '127.0.0.1:3' } });
  expect([config.log.level, config.instance.name, config.listen]).toEqual([
    'debug',
    'from the environment',
    '127.0.0.1:3',
  ]);
  expect(config.baseUrl).toBe('http://127.0.0.1:3');
  const from = ['log.level', 'instance.name', 'listen', 'baseUrl'].map((key) => origins.get(key));
  expect(from).toEqual(['file', 'environment', 'option', 'default']);
});

test('empty sections and settings count as absent', async () => {
  const { config } = await load('doh:\n  # resolverUrl: x\nbaseUrl:\ninstance: ~\n');
  expect(config.doh.resolverUrl).toBe('https://dns.quad9.net/dns-query');
});

test('relative paths in the file are relative to the file, others to the current folder', async () => {
  const text =
    'keyFile: keys/master.key\ndatabase: { url: "sqlite:data.db" }\noutbound: { caFile: ca.pem }\n';
  const cwd = '/somewhere';
  const { config } = await load(text, { cwd, env: { IDCTL_DOH_CA_FILE: 'doh.pem' } });
  expect(config.keyFile).toBe(join(folder, 'keys/master.key'));
  expect(config.database.url).toBe(`sqlite:${join(folder, 'data.db')}`);
  expect(config.outbound.caFile).toBe(join(folder, 'ca.pem'));
  expect(config.doh.caFile).toBe('/somewhere/doh.pem');
  const named = await loadConfig({ file: '../idctl.yaml', env: {}, cwd: join(folder, 'below') });
  expect(named.file).toBe(file);
});

test.each([
  ['sqlite:/var/x.db', 'sqlite:/var/x.db'],
  ['sqlite:///var/x.db', 'sqlite:/var/x.db'],
  ['postgres://u:p@h/d', 'postgres://u:p@h/d'],
  ['postgresql://u@h:5432/d?sslmode=require', 'postgresql://u@h:5432/d?sslmode=require'],
])('the database URL %s is read', async (url, understood) => {
  expect((await load(`database:\n  url: ${url}\n`)).config.database.url).toBe(understood);
});

test.each(['sqlite:', 'sqlite://x.db', 'sqlite::memory:', 'mysql://h/d', 'idctl.db'])(
  'the database URL %j is refused, and the message gives the right forms',
  async (url) => {
    await expect(load(`database:\n  url: "${url}"\n`)).rejects.toEqual(
      refused(`${file} line 2: database.url must be sqlite:/path/to/file or postgres://`),
    );
  },
);

test.each([
  ['listen: 127.0.0.1', 'line 1: listen must be HOST:PORT'],
  ['listen: 127.0.0.1:99999', 'line 1: listen must be HOST:PORT'],
  ['listen: 8420', 'line 1: listen must be a string'],
  ['\n\nbaseUrl: https://id.example.com/path', 'line 3: baseUrl must be an origin'],
  ['baseUrl: https://u:p@id.example.com', 'line 1: baseUrl must be an origin'],
  ['baseUrl: ftp://id.example.com', 'line 1: baseUrl must be an origin'],
  [
    'http:\n  trustedProxies: [10.0.0.0/33]',
    'line 2: http.trustedProxies must be an address or a range',
  ],
  [
    'http:\n  trustedProxies: 10.0.0.300',
    'line 2: http.trustedProxies must be an address or a range',
  ],
  ['http:\n  trustedProxies: {a: b}', 'line 2: http.trustedProxies must be an array'],
  [
    'mail:\n  smtpUrl: mail.test',
    'line 2: mail.smtpUrl must be an smtp:// or smtps:// URL, such as smtp://USER@',
  ],
  ['mail:\n  smtpUrl: smtp://', 'line 2: mail.smtpUrl must be an smtp:// or smtps:// URL'],
  ['mail:\n  smtpUrl: smtp://:25', 'line 2: mail.smtpUrl must be an smtp:// or smtps:// URL'],
  ['http:\n  corsOrigins: ["*"]', 'line 2: http.corsOrigins must be an origin'],
  ['password:\n  minLength: 7', 'line 2: password.minLength must be at least'],
  ['password:\n  argon2:\n    memory: 19455', 'line 3: password.argon2.memory must be at least'],
  [
    'doh:\n  resolverUrl: dns.example',
    'line 2: doh.resolverUrl must be an http:// or https:// URL',
  ],
  ['trust:\n  domains: maybe', 'line 2: trust.domains must be one of enforce, off'],
  ['signup:\n  open: maybe', 'line 2: signup.open must be on or off'],
  ['baseUrl: https:id.example.com', 'line 1: baseUrl must be an origin'],
  ['baseUrl: https://id.example.com?a', 'line 1: baseUrl must be an origin'],
  ['instance:\n  name: "a\\u202Eb"', 'line 2: instance.name must not contain control characters'],
  ['instance:\n  name: "a\\nb"', 'line 2: instance.name must not contain control characters'],
  ['keyFile: {a: b}', 'line 1: keyFile must be a string'],
])('%j is refused with its line and setting', async (text, message) => {
  await expect(load(text)).rejects.toEqual(refused(`${file} ${message}`));
});

test.each([
  ['lisen: 127.0.0.1:1', 'line 1: lisen is not a setting', 'did you mean listen?'],
  [
    '\ndoh:\n  resolverURL: x',
    'line 3: doh.resolverURL is not a setting',
    'did you mean doh.resolverUrl?',
  ],
  ['resolver_url: x', 'line 1: resolver_url is not a setting', 'did you mean doh.resolverUrl?'],
  ['database:\n  uri: x', 'line 2: database.uri is not a setting', 'did you mean database.url?'],
  ['outbond:\n  allow: [x]', 'line 1: outbond is not a setting', 'did you mean outbound?'],
  ['maill:', 'line 1: maill is not a setting', 'did you mean mail?'],
  ['social:\n  gogle: {}', 'line 2: social.gogle is not a setting', 'did you mean social.google?'],
  ['colour: red', 'line 1: colour is not a setting', 'man idctl.yaml'],
  ['__proto__: {a: b}', 'line 1: __proto__ is not a setting', 'man idctl.yaml'],
  ['"": x', 'is not a setting', 'man idctl.yaml'],
])('an unknown setting in %j is refused with its line and a hint', async (text, message, hint) => {
  await expect(load(text)).rejects.toEqual(refused(message, hint));
});

test.each([
  ['listen: [1', 'line 1: '],
  ['\na: b\n c: d', 'line 2: '],
  ['listen: 127.0.0.1:1\nlisten: 127.0.0.1:2', 'line 2: listen is set twice'],
  ['doh:\n  caFile: a\n  caFile : b', 'line 3: caFile is set twice'],
  ['- listen', 'settings are expected'],
  ['just text', 'settings are expected'],
  ['database: postgres://h/d', 'line 1: database is a section: it contains database.url'],
])('the malformed file %j is refused with the cause', async (text, message) => {
  await expect(load(text)).rejects.toEqual(
    refused(`${file}${message.startsWith('line') ? ' ' : ': '}${message}`),
  );
});

test('X4 no refusal shows the value of a secret', async () => {
  for (const text of [
    'database:\n  url: mysql://u:canary@h/d',
    'database:\n  url: "canary',
    'a: canary\n b',
  ]) {
    const refusal: unknown = await load(text).catch((error: unknown) => error);
    expect(refusal).toEqual(refused(file));
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain('canary');
  }
});

test('a list of one does not need brackets, and a list can use commas as in the environment', async () => {
  const { config } = await load(
    'http:\n  trustedProxies: 10.0.0.0/8\noutbound:\n  allow: a.test, b.test\n',
  );
  expect(config.http.trustedProxies).toEqual(['10.0.0.0/8']);
  expect(config.outbound.allow).toEqual(['a.test', 'b.test']);
});

test.each([
  ['on', 'on'],
  ['true', 'on'],
  ['"true"', 'on'],
  ['off', 'off'],
  ['false', 'off'],
])('a switch set to %s is %s', async (written, value) => {
  expect((await load(`signup:\n  open: ${written}\n`)).config.signup.open).toBe(value);
});

test('I2 trust.domains can be off only if the operator creates the organizations', async () => {
  const off = 'trust:\n  domains: off\n';
  const { config, warnings } = await load(off);
  expect(config.trust.domains).toBe('off');
  expect(warnings).toEqual([expect.stringContaining('trust.domains is off')]);
  await expect(load(`${off}orgs:\n  creation: anyone\n`)).rejects.toEqual(
    refused('line 2: trust.domains can be off only if orgs.creation is operator'),
  );
  await expect(load(off, { env: { IDCTL_ORGS_CREATION: 'anyone' } })).rejects.toEqual(
    refused('trust.domains'),
  );
});

test.each(['https://id.example.com/', 'https://id.example.com:443', 'HTTPS://Id.Example.Com'])(
  'the base URL %s is read in canonical form',
  async (url) => {
    expect((await load(`baseUrl: ${url}`)).config.baseUrl).toBe('https://id.example.com');
  },
);

test('plain http off loopback, public metrics and a password that others can read cause warnings', async () => {
  expect((await load('baseUrl: http://id.example.com')).warnings).toEqual([
    expect.stringContaining('plain http'),
  ]);
  expect((await load('baseUrl: http://[::1]:80')).warnings).toEqual([]);
  const metrics = async (listen: string) =>
    (await load(`metrics:\n  listen: '${listen}'`)).warnings;
  expect(await metrics('0.0.0.0:9100')).toEqual([
    expect.stringContaining('metrics.listen 0.0.0.0:9100'),
  ]);
  expect([await metrics('127.0.0.1:9100'), await metrics('[::1]:9100')]).toEqual([[], []]);
  const text = 'database:\n  url: postgres://u:p@h/d\n';
  expect((await load(text)).warnings).toEqual([]);
  await chmod(file, 0o644);
  expect((await load(text)).warnings).toEqual([expect.stringContaining(`chmod 600 ${file}`)]);
});

test('a named file that is missing is refused with the command that creates it; init works without it', async () => {
  const missing = loadConfig({ file, env: {}, cwd: folder });
  await expect(missing).rejects.toEqual(
    refused(`${file} does not exist`, `idctl init --config ${file}`),
  );
  const { config, file: read } = await loadConfig({ file, env: {}, mayBeMissing: true });
  expect(read).toBeNull();
  expect(config.keyFile).toBe(join(folder, 'master.key'));
});

test('a file that cannot be read is refused with the cause', async () => {
  await mkdir(file);
  await expect(loadConfig({ file, env: {} })).rejects.toEqual(refused(`${file} is a folder`));
});
