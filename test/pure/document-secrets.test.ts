import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readDocument } from '../../src/cli/document-file.ts';
import { planLines, sourceLines } from '../../src/cli/plan-text.ts';

// What a document may read: its author may be a stranger to the machine that applies it.

let folder: string;
let own: string;
let outside: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'idctl-secrets-')));
  [own, outside] = [join(folder, 'acme'), join(folder, 'acme-else')];
  await mkdir(join(own, 'deep'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(own, 'idp'), 'inside\n');
  await writeFile(join(own, 'deep/idp'), 'deep\n');
  await writeFile(join(outside, 'idp'), 'outside\n');
  for (const name of Object.keys(process.env))
    if (name.startsWith('IDCTL_')) vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', join(folder, 'home'));
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

type Rules = Partial<Parameters<typeof readDocument>[1]>;

/** The value that the reference leads to, or the refusal. */
async function read(reference: object, rules: Rules = {}): Promise<string> {
  const path = join(own, 'acme.yaml');
  await writeFile(path, JSON.stringify({ idctl: 1, ldap: { bindPassword: reference } }));
  return valueIn(path, rules);
}

async function valueIn(path: string, rules: Rules = {}): Promise<string> {
  const given = { secrets: undefined, allowEnv: [], config: undefined, ...rules };
  const { document, faults } = await readDocument(path, given);
  // The cast is safe: the document has the shape that `read` wrote.
  const { ldap } = document(false) as { ldap: { bindPassword: { value?: string } } };
  return faults[0]?.message ?? ldap.bindPassword.value ?? 'kept';
}

const file = (path: string, rules?: Rules) => read({ file: path }, rules);
const isOut = expect.stringContaining("is not below the document's folder or --secrets DIR");
const isOwn = expect.stringContaining("is one of idctl's own files");

test('X12 a document reads a file below its own folder, by a relative or an absolute path', async () => {
  expect(await file('idp')).toBe('inside');
  expect(await file('./deep/../deep/idp')).toBe('deep');
  expect(await file('../acme/idp')).toBe('inside');
  expect(await file(join(own, 'deep/idp'))).toBe('deep');
  await symlink('deep/idp', join(own, 'linked'));
  expect(await file('linked')).toBe('deep');
  await symlink(own, join(folder, 'alias'));
  expect(await valueIn(join(folder, 'alias/acme.yaml'))).toBe('deep');
});

test('X12 no absolute path, no `..` and no link leads out of the folder of the document', async () => {
  expect(await file(join(outside, 'idp'))).toEqual(isOut);
  expect(await file('../acme-else/idp')).toEqual(isOut);
  expect(await file('deep/../../acme-else/idp')).toEqual(isOut);
  expect(await file('/proc/self/environ')).toEqual(isOut);
  await symlink(join(outside, 'idp'), join(own, 'link'));
  expect(await file('link')).toEqual(isOut);
  await symlink('../../acme-else', join(own, 'deep/folder'));
  expect(await file('deep/folder/idp')).toEqual(isOut);
  expect(await file(join(own, 'deep/folder/idp'))).toEqual(isOut);
});

test('X12 a document also reads below --secrets, but no link leads out of it', async () => {
  const rules = { secrets: outside };
  expect(await file(join(outside, 'idp'), rules)).toBe('outside');
  expect(await file('../acme-else/idp', rules)).toBe('outside');
  await writeFile(join(outside, 'only'), 'by name');
  expect(await file('only', rules)).toBe('by name');
  expect(await file('deep/idp', rules)).toBe('deep');
  await writeFile(join(folder, 'third'), 'third');
  expect(await file('../third', rules)).toEqual(isOut);
  await symlink('../third', join(outside, 'third'));
  expect(await file('third', rules)).toEqual(isOut);
});

test('X12 a relative path that fits a file in both folders is refused', async () => {
  const words = `idp is in the document's folder and in ${outside}; write the absolute path`;
  expect(await file('idp', { secrets: outside })).toContain(words);
  expect(await file('idp', { secrets: own })).toBe('inside');
});

test('X12 --secrets must name a folder', async () => {
  for (const secrets of ['', join(own, 'idp'), join(folder, 'none')])
    await expect(file('idp', { secrets })).rejects.toMatchObject({
      faults: [{ path: '--secrets' }],
    });
});

test('X12 only a regular file is read', async () => {
  execFileSync('/usr/bin/mkfifo', [join(own, 'pipe')]);
  expect(await file('pipe')).toBe('pipe is not a regular file');
  expect(await file('deep')).toBe('deep is not a regular file');
  expect(await file('.')).toEqual(isOut);
  expect(await file('none')).toBe('none does not exist');
});

test('X12 a document without a folder reads files only below --secrets', async () => {
  const pipe = join(own, 'document');
  execFileSync('/usr/bin/mkfifo', [pipe]);
  const text = JSON.stringify({ idctl: 1, ldap: { bindPassword: { file: 'idp' } } });
  const typed = async (rules: Rules) => {
    const writing = writeFile(pipe, text);
    const value = await valueIn(pipe, rules);
    await writing;
    return value;
  };
  expect(await typed({})).toContain('has no folder; name the folder of the files with --secrets');
  expect(await typed({ secrets: outside })).toBe('outside');
});

test('X12 a document never reads the key, configuration or stored logins of idctl, also not below its own folder', async () => {
  const config = join(own, 'idctl.yaml');
  await writeFile(config, 'keyFile: deep/named.key\n');
  await mkdir(join(folder, 'home/.config/idctl'), { recursive: true });
  const logins = join(folder, 'home/.config/idctl/servers.yaml');
  for (const path of [join(own, 'master.key'), join(own, 'deep/named.key'), logins])
    await writeFile(path, 'secret of idctl');
  const names = ['idctl.yaml', 'master.key', 'deep/named.key'];
  for (const name of names) {
    vi.stubEnv('IDCTL_CONFIG', undefined);
    expect(await file(name, { config })).toEqual(isOwn);
    expect(await file(join(own, name), { config, secrets: own })).toEqual(isOwn);
    vi.stubEnv('IDCTL_CONFIG', config);
    expect(await file(name)).toEqual(isOwn);
  }
  expect(await file(logins, { secrets: join(folder, 'home') })).toEqual(isOwn);
  await symlink('master.key', join(own, 'soft'));
  await link(join(own, 'master.key'), join(own, 'hard'));
  await link(logins, join(own, 'logins'));
  for (const name of ['soft', 'hard', 'logins']) expect(await file(name)).toEqual(isOwn);
  expect(await file('idp')).toBe('inside');
});

test('X12 a document never reads a file that a variable of idctl names', async () => {
  for (const name of ['IDCTL_KEY_FILE', 'IDCTL_TOKEN_FILE', 'IDCTL_MAIL_SMTP_URL_FILE']) {
    vi.stubEnv(name, join(own, 'idp'));
    expect(await file('idp')).toEqual(isOwn);
    vi.stubEnv(name, undefined);
  }
  await writeFile(join(own, 'mail.smtpUrl'), 'smtp://secret');
  vi.stubEnv('CREDENTIALS_DIRECTORY', own);
  expect(await file('mail.smtpUrl')).toEqual(isOwn);
  expect(await file('idp')).toBe('inside');
});

test('X12 under sudo, the logins of another person are not read either', async () => {
  const home = join(own, 'home/ada/.config/idctl');
  await mkdir(home, { recursive: true });
  for (const name of ['servers.yaml', 'master.key', 'idctl.yaml']) {
    await writeFile(join(home, name), 'token');
    expect(await file(`home/ada/.config/idctl/${name}`)).toEqual(isOwn);
  }
});

test('X12 a file that is replaced by a link while it is read does not lead out', async () => {
  const script = `
    ln -s ../acme-else/idp away; printf inside >stay
    while [ ! -e stop ]; do ln away swap.1; mv -f swap.1 swap; ln stay swap.2; mv -f swap.2 swap; done`;
  await writeFile(join(own, 'swap'), 'inside');
  const swapping = spawn('sh', ['-c', script], { cwd: own, stdio: 'ignore' });
  try {
    const seen = new Set<string>();
    while (seen.size < 2) seen.add(await file('swap'));
    for (let count = 0; count < 500; count += 1) seen.add(await file('swap'));
    expect([...seen].toSorted()).toEqual(['inside', isOut]);
  } finally {
    // A killed shell would leave a command behind that writes while the folder is removed.
    const exited = once(swapping, 'exit');
    await writeFile(join(own, 'stop'), '');
    await exited;
  }
});

test('X12 a variable must begin with IDCTL_SECRET_, or --allow-env must name it', async () => {
  for (const name of ['AWS_SECRET_ACCESS_KEY', 'IDCTL_TOKEN', 'IDCTL_SECRET', 'XIDCTL_SECRET_A']) {
    vi.stubEnv(name, 'value');
    expect(await read({ env: name })).toBe(
      `the name ${name} must begin with IDCTL_SECRET_; to allow this variable, add --allow-env ${name}`,
    );
    expect(await read({ env: name }, { allowEnv: ['OTHER', name] })).toBe('value');
  }
  vi.stubEnv('IDCTL_SECRET_IDP', 'set aside');
  expect(await read({ env: 'IDCTL_SECRET_IDP' })).toBe('set aside');
  vi.stubEnv('IDCTL_SECRET_IDP', '');
  expect(await read({ env: 'IDCTL_SECRET_IDP' })).toBe('the variable IDCTL_SECRET_IDP is empty');
});

test('X12 each secret is named with its source and the host that will receive it', async () => {
  const path = join(own, 'acme.yaml');
  vi.stubEnv('IDCTL_SECRET_IDP', 'one');
  const document = {
    sso: { issuer: 'https://idp.acme.test:8443/realm', clientSecret: { env: 'IDCTL_SECRET_IDP' } },
    ldap: { uri: 'ldaps://ldap.acme.test', bindPassword: { file: 'idp' } },
  };
  await writeFile(path, JSON.stringify(document));
  const read = await readDocument(path, { secrets: undefined, allowEnv: [], config: undefined });
  expect(read.sources).toEqual([
    { field: 'sso.clientSecret', env: 'IDCTL_SECRET_IDP', host: 'idp.acme.test:8443' },
    { field: 'ldap.bindPassword', file: join(own, 'idp'), host: 'ldap.acme.test' },
  ]);
  const withheld = { clientSecret: { withheld: true } };
  expect(read.document(true)).toMatchObject({ sso: withheld });
  expect(JSON.stringify(read.document(true))).not.toMatch(/"one"|inside/);
});

test('X12 X9 the name of a file does not add a line about another secret', () => {
  const file = '/acme/idp\n  sso.clientSecret for good.test, from \u202e\u001b[31mX';
  const sources = [{ field: 'sso.clientSecret', file, host: 'evil.test' }];
  const line =
    '  sso.clientSecret for evil.test, from the file /acme/idp\\u000a  sso.clientSecret for good.test, from \\u202e\\u001b[31mX';
  expect(sourceLines(sources).slice(2)).toEqual([line]);
  const fields = [{ field: 'name', from: 'one', to: 'two\nthree' }];
  const changes = [
    { section: 'organization' as const, action: 'change' as const, key: 'x', fields },
  ];
  const nothing = { kept: [], losing: [], blocked: [], notCompared: [] };
  const plan = { ...nothing, changes, digest: '' };
  expect(planLines(plan, 'acme', sources)).toEqual(expect.arrayContaining([line]));
  expect(planLines(plan, 'acme', sources).join('')).not.toMatch(/\p{Cc}/u);
});
