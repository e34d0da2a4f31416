import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { defaultPaths, searchedFiles } from '../../src/config/paths.ts';
import { settings } from '../../src/config/setting-list.ts';
import { hintLike } from '../support/hints.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-env-'));
  await writeFile(join(folder, 'idctl.yaml'), 'http:\n  corsOrigins: [https://file.example]\n');
});

afterEach(() => rm(folder, { recursive: true }));

const load = (env: Record<string, string>) =>
  loadConfig({ env: { IDCTL_CONFIG: join(folder, 'idctl.yaml'), ...env }, uid: 1000, cwd: folder });

const refused = (message: string, hint?: string) =>
  expect.objectContaining({
    code: 'config_invalid',
    message: expect.stringContaining(message),
    ...(hint === undefined ? {} : { hint: hintLike(hint) }),
  });

const sample: Record<string, [text: string, value: unknown]> = {
  text: ['https://id.example.com', 'https://id.example.com'],
  integer: ['19456', 19456],
};
const special: Record<string, [text: string, value: unknown]> = {
  listen: ['[::]:8421', '[::]:8421'],
  'database.url': ['sqlite:/x', 'sqlite:/x'],
  'database.sqliteDriver': ['sqlite3', 'sqlite3'],
  keyFile: ['/k', '/k'],
  'doh.caFile': ['/c', '/c'],
  'outbound.caFile': ['/o', '/o'],
  'trust.domains': ['off', 'off'],
  'instance.logo': ['/l.svg', '/l.svg'],
  'mail.smtpUrl': ['smtp://mail:25', 'smtp://mail:25'],
  'mail.caFile': ['/m', '/m'],
  'mail.notices': ['off', 'off'],
  'signin.password': ['off', 'off'],
  'signin.passkey': ['off', 'off'],
  'signin.magicCode': ['on', 'on'],
  'signin.google': ['off', 'off'],
  'signin.github': ['off', 'off'],
  'signin.allowSelfSignup': ['on', 'on'],
  'signin.restrictOauthToVerifiedDomains': ['on', 'on'],
  'events.retention': ['400d', '400d'],
  'metrics.listen': ['127.0.0.1:9420', '127.0.0.1:9420'],
  'http.trustedProxies': ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  'http.returnToOrigins': [
    'https://a.example,https://b.example',
    ['https://a.example', 'https://b.example'],
  ],
  'http.corsOrigins': ['https://a.example', ['https://a.example']],
  'outbound.allow': ['idp.internal,10.1.0.0/16', ['idp.internal', '10.1.0.0/16']],
  'password.argon2.time': ['3', 3],
  'password.argon2.lanes': ['4', 4],
  'password.minLength': ['12', 12],
  'limits.enabled': ['off', 'off'],
  'orgs.creation': ['operator', 'operator'],
  'signup.open': ['true', 'on'],
  'tokens.manageCredentials': ['on', 'on'],
  'oauth.botTokenTtl': ['30m', '30m'],
  'scim.deleteMode': ['remove', 'remove'],
  'ldap.allowPlaintext': ['on', 'on'],
  'log.level': ['warn', 'warn'],
  'log.format': ['json', 'json'],
};

test.each(settings())('$env sets $key', async (setting) => {
  const [text, value] = special[setting.key] ?? sample[setting.kind] ?? [];
  const { config, origins } = await load({ [setting.env]: text ?? '' });
  expect(config).toHaveProperty(setting.key, value);
  expect(origins.get(setting.key)).toBe('environment');
});

test('every variable has its own name, spelled as the interface document says', () => {
  const names = settings().map((setting) => setting.env);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('IDCTL_DOH_RESOLVER_URL');
  expect(names).toContain('IDCTL_DATABASE_SQLITE_DRIVER');
});

test('IDCTL_DATABASE is short for IDCTL_DATABASE_URL, and setting both is refused', async () => {
  expect((await load({ IDCTL_DATABASE: 'sqlite:x.db' })).config.database.url).toBe(
    `sqlite:${folder}/x.db`,
  );
  await expect(
    load({ IDCTL_DATABASE: 'sqlite:x', IDCTL_DATABASE_URL: 'sqlite:y' }),
  ).rejects.toEqual(refused('IDCTL_DATABASE and IDCTL_DATABASE_URL'));
});

test('an empty variable counts as not set, but empties a list', async () => {
  const { config } = await load({
    IDCTL_LISTEN: '',
    IDCTL_DATABASE: '',
    IDCTL_HTTP_CORS_ORIGINS: '',
  });
  expect(config.listen).toBe('127.0.0.1:8420');
  expect(config.http.corsOrigins).toEqual([]);
  expect((await load({})).config.http.corsOrigins).toEqual(['https://file.example']);
});

test.each([
  ['IDCTL_DOH_RESOLVR_URL', 'did you mean IDCTL_DOH_RESOLVER_URL?'],
  ['IDCTL_BASEURL', 'did you mean IDCTL_BASE_URL?'],
  ['IDCTL_LISTEN_FILE', 'did you mean'],
  ['IDCTL_NONSENSE_ALTOGETHER', 'man idctl.yaml'],
])('the unknown variable %s is refused with a hint', async (name, hint) => {
  await expect(load({ [name]: 'x' })).rejects.toEqual(refused(`${name} is not a setting`, hint));
});

test('variables of the tests, of other programs and of systemd are accepted', async () => {
  await load({ IDCTL_TEST_POSTGRES_URL: 'x', OTHER_LISTEN: 'x', CREDENTIALS_DIRECTORY: '' });
});

test('X12 a variable that begins with IDCTL_SECRET_ is never a setting, and never refused as one', async () => {
  const secrets = { IDCTL_SECRET_IDP: 'x', IDCTL_SECRET_LISTEN: 'y', IDCTL_SECRET_KEY_FILE: 'z' };
  const { wheres } = await load(secrets);
  expect([...wheres.values()].filter((where) => where.includes('SECRET'))).toEqual([]);
  expect(settings().filter(({ env }) => env.startsWith('IDCTL_SECRET_'))).toEqual([]);
  await expect(load({ IDCTL_SECRET: 'x' })).rejects.toEqual(refused('is not a setting'));
});

test.each([
  [{ IDCTL_LISTEN: 'nowhere' }, 'IDCTL_LISTEN must be HOST:PORT'],
  [{ IDCTL_PASSWORD_MIN_LENGTH: 'ten' }, 'IDCTL_PASSWORD_MIN_LENGTH must be a number'],
  [{ IDCTL_PASSWORD_MIN_LENGTH: '8.5' }, 'IDCTL_PASSWORD_MIN_LENGTH must be a number'],
  [{ IDCTL_HTTP_CORS_ORIGINS: 'https://a.example,b' }, 'IDCTL_HTTP_CORS_ORIGINS must be an origin'],
  [{ IDCTL_DATABASE: 'mysql://h' }, 'IDCTL_DATABASE must be sqlite:'],
])('%j is refused with the name of the variable', async (env, message) => {
  await expect(load(env)).rejects.toEqual(refused(message));
});

test('a secret is read from the file that …_FILE names, without the final line break', async () => {
  await writeFile(join(folder, 'url'), 'postgres://u:p@h/d\n');
  for (const name of ['IDCTL_DATABASE_URL_FILE', 'IDCTL_DATABASE_FILE']) {
    const { config, origins } = await load({ [name]: join(folder, 'url') });
    expect(config.database.url).toBe('postgres://u:p@h/d');
    expect(origins.get('database.url')).toBe('environment');
  }
  const missing = join(folder, 'missing');
  await expect(load({ IDCTL_DATABASE_FILE: missing })).rejects.toEqual(
    refused(`IDCTL_DATABASE_FILE: ${missing} is missing`, 'or take IDCTL_DATABASE_FILE out of'),
  );
  await expect(load({ IDCTL_DATABASE: 'sqlite:x', IDCTL_DATABASE_FILE: missing })).rejects.toEqual(
    refused('IDCTL_DATABASE and IDCTL_DATABASE_FILE are both set'),
  );
});

test('a secret is read from the systemd credential of its name; the environment comes first', async () => {
  const CREDENTIALS_DIRECTORY = join(folder, 'credentials');
  await mkdir(CREDENTIALS_DIRECTORY);
  expect((await load({ CREDENTIALS_DIRECTORY })).origins.get('database.url')).toBe('default');
  await writeFile(join(CREDENTIALS_DIRECTORY, 'database.url'), 'postgres://u:p@h/d\n');
  await writeFile(join(CREDENTIALS_DIRECTORY, 'listen'), 'ignored: not a secret');
  expect((await load({ CREDENTIALS_DIRECTORY })).config.database.url).toBe('postgres://u:p@h/d');
  const { config } = await load({ CREDENTIALS_DIRECTORY, IDCTL_DATABASE: 'sqlite:/x' });
  expect(config.database.url).toBe('sqlite:/x');
});

test('root uses the system folders, every other user the XDG folders', () => {
  expect(defaultPaths({ HOME: '/root', XDG_CONFIG_HOME: '/c' }, 0)).toEqual({
    configFile: '/etc/idctl/idctl.yaml',
    keyFile: '/etc/idctl/master.key',
    databaseFile: '/var/lib/idctl/idctl.db',
  });
  expect(defaultPaths({ HOME: '/home/a' }, 1000)).toEqual({
    configFile: '/home/a/.config/idctl/idctl.yaml',
    keyFile: '/home/a/.config/idctl/master.key',
    databaseFile: '/home/a/.local/share/idctl/idctl.db',
  });
  const xdg = { HOME: '/home/a', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: 'relative' };
  expect(defaultPaths(xdg, 1000).keyFile).toBe('/c/idctl/master.key');
  expect(defaultPaths(xdg, 1000).databaseFile).toBe('/home/a/.local/share/idctl/idctl.db');
  expect(searchedFiles(xdg)).toEqual(['/c/idctl/idctl.yaml', '/etc/idctl/idctl.yaml']);
});

test('the file in the XDG folder is found, and its data is in the XDG data folder, even if the file is named', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'c'), XDG_DATA_HOME: join(folder, 'd') };
  const file = join(folder, 'c/idctl/idctl.yaml');
  await mkdir(join(folder, 'c/idctl'), { recursive: true });
  await writeFile(file, 'instance:\n  name: found\n');
  for (const named of [undefined, file]) {
    const { config, file: read } = await loadConfig({ file: named, env, uid: 1000 });
    expect(read).toBe(file);
    expect(config.instance.name).toBe('found');
    expect(config.keyFile).toBe(join(folder, 'c/idctl/master.key'));
    expect(config.database.url).toBe(`sqlite:${join(folder, 'd/idctl/idctl.db')}`);
  }
});

test('--config comes before IDCTL_CONFIG', async () => {
  const other = join(folder, 'other.yaml');
  await writeFile(other, 'instance:\n  name: other\n');
  const env = { IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  expect((await loadConfig({ file: other, env })).config.instance.name).toBe('other');
});
