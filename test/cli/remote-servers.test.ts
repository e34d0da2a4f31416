import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { forgetServer, readServers, storeServer } from '../../src/cli/remote/servers.ts';
import { createdAt, type Fake, id, json, organizationOf, serve } from '../support/fake-server.ts';
import { type Typed, typeLine } from '../support/typing.ts';

// Tests which server a command asks, and with which token.

let home: string;
let said: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'idctl-servers-'));
  said = '';
});
afterEach(async () => {
  // No token is ever printed, whatever happened in the test.
  expect(said).not.toMatch(/cos_pat_/);
  await rm(home, { recursive: true });
});

const file = () => join(home, '.config/idctl/servers.yaml');

async function type(line: string, env: Record<string, string> = {}): Promise<Typed> {
  const typed = await typeLine(line.split(' '), { HOME: home, ...env });
  said += typed.out + typed.err;
  return typed;
}

async function loginTo({ url }: Fake, token: string, more = ''): Promise<Typed> {
  await writeFile(join(home, 'token'), `${token}\n`);
  return type(`login ${url} --token-file ${join(home, 'token')}${more}`);
}

describe('interface page: login, logout, server', () => {
  test('login checks the token, and stores it where only its user may read it', async () => {
    const acme = await serve(organizationOf('acme'));
    expect(await loginTo(acme, 'cos_pat_a')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('ada@acme.test'),
    });
    expect(acme.asked).toEqual(['GET /api/v1/me Bearer cos_pat_a']);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readFile(file(), 'utf8')).toContain('cos_pat_a');
  });

  test('a refused token is not stored', async () => {
    const acme = await serve((_, response) =>
      json(response, 401, { code: 'invalid_credential', detail: 'The credential is not valid.' }),
    );
    const { exit, err } = await loginTo(acme, 'cos_pat_wrong');
    expect([exit, err]).toEqual([1, expect.stringContaining('The credential is not valid.\n')]);
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('the stored servers are listed, chosen and forgotten', async () => {
    const [one, two] = [await serve(organizationOf('one')), await serve(organizationOf('two'))];
    await loginTo(one, 'cos_pat_1', ' --name one');
    await loginTo(two, 'cos_pat_2', ' --name two');
    const list = JSON.parse((await type('server list --json')).out);
    expect(list).toEqual([
      { name: 'one', url: one.url, current: false, caFile: null },
      { name: 'two', url: two.url, current: true, caFile: null },
    ]);
    expect((await type('org list')).out).toContain('two');
    expect((await type('server use one')).exit).toBe(0);
    expect((await type('org list')).out).toContain('one');
    const logout = await type('logout');
    expect([logout.out, logout.err]).toEqual([
      expect.stringContaining(one.url),
      expect.stringContaining('idctl pat revoke ID'),
    ]);
    expect((await type('org list')).err).toContain('To choose one of two: idctl server use NAME');
    expect((await type('logout two')).exit).toBe(0);
    expect(await type('logout two')).toMatchObject({ exit: 1 });
    expect((await type('org list')).err).toContain('For a remote server: idctl login URL');
    expect(await readFile(file(), 'utf8')).not.toContain('cos_pat_');
  });

  test('logins at the same time are all stored, even if a command was killed', async () => {
    const env = { HOME: home };
    await loginTo(await serve(organizationOf('acme')), 'cos_pat_a', ' --name acme');
    await writeFile(`${file()}.lock`, '', { mode: 0o600 });
    const names = Array.from({ length: 20 }, (_, n) => `server-${n}`);
    const login = (name: string) =>
      storeServer(env, { name, url: `https://${name}.test`, token: `cos_pat_${name}` });
    await Promise.all([...names.map(login), forgetServer(env, 'acme')]);
    const stored = (await readServers(env)).map(({ name }) => name);
    expect(stored).toEqual(names.toSorted());
    expect((await stat(`${file()}.lock`)).mode & 0o777).toBe(0o600);
  });

  test('a file that others may read is refused', async () => {
    const acme = await serve(organizationOf('acme'));
    await loginTo(acme, 'cos_pat_a');
    await chmod(file(), 0o640);
    const { exit, err } = await type('org list');
    expect([exit, err]).toEqual([2, expect.stringContaining(`chmod 600 ${file()}`)]);
    expect(acme.asked).toHaveLength(1);
  });

  test('without a terminal, login names the option for the token, and a token is never an argument', async () => {
    const { exit, err } = await type('login http://127.0.0.1:1');
    expect([exit, err]).toEqual([2, expect.stringContaining('--token-stdin')]);
    expect((await type('login http://127.0.0.1:1 other')).exit).toBe(2);
  });
});

describe('interface page: which server is asked', () => {
  test('a command uses --server, IDCTL_SERVER, local configuration or a stored login, in this order', async () => {
    const stored = await serve(organizationOf('stored'));
    const named = await serve(organizationOf('named'));
    const ofEnvironment = await serve(organizationOf('environment'));
    await loginTo(named, 'cos_pat_n', ' --name named');
    await loginTo(stored, 'cos_pat_s', ' --name stored');
    const remote = { IDCTL_SERVER: ofEnvironment.url, IDCTL_TOKEN: 'cos_pat_e' };
    const local = { IDCTL_DATABASE: `sqlite:${home}/none.db`, IDCTL_TOKEN: 'cos_pat_e' };
    const all = { ...remote, ...local };
    expect((await type('org list --server named', all)).out).toContain('named');
    expect((await type(`org list --server ${named.url}`, all)).out).toContain('named');
    expect((await type('org list', all)).out).toContain('environment');
    // IDCTL_TOKEN without a server does not disturb a local command.
    expect((await type('org list', local)).err).toContain(`no database at ${home}/none.db`);
    expect((await type('org list', { IDCTL_TOKEN: 'cos_pat_e' })).out).toContain('stored');
    expect(stored.asked.at(-1)).toMatch(/Bearer cos_pat_s$/);
  });

  test('a local configuration file comes before a stored login', async () => {
    await loginTo(await serve(organizationOf('stored')), 'cos_pat_s');
    await writeFile(
      join(home, '.config/idctl/idctl.yaml'),
      `database: {url: "sqlite:${home}/none.db"}\n`,
    );
    expect((await type('org list')).err).toContain(`no database at ${home}/none.db`);
  });

  test('a token goes only to the server that it was given for', async () => {
    const acme = await serve(organizationOf('acme'));
    const other = await serve(organizationOf('other'));
    await loginTo(acme, 'cos_pat_a', ' --name acme');
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN: 'cos_pat_e' };
    for (const given of [{}, env]) {
      const { exit, err } = await type(`org list --server ${other.url}`, given);
      expect([exit, err]).toEqual([1, expect.stringContaining('There is no token for')]);
    }
    expect(other.asked).toEqual([]);
    await type('org list --server acme', { ...env, IDCTL_SERVER: other.url });
    expect(acme.asked.at(-1)).toMatch(/Bearer cos_pat_a$/);
  });

  test('IDCTL_TOKEN_FILE names a file, and is refused beside IDCTL_TOKEN', async () => {
    const acme = await serve(organizationOf('acme'));
    await writeFile(join(home, 'ci'), 'cos_pat_f\n');
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN_FILE: join(home, 'ci') };
    expect((await type('org list', env)).exit).toBe(0);
    expect(acme.asked).toEqual(['GET /api/v1/orgs?limit=200 Bearer cos_pat_f']);
    expect((await type('org list', { ...env, IDCTL_TOKEN: 'cos_pat_e' })).exit).toBe(2);
    expect((await type('org list', { ...env, IDCTL_TOKEN_FILE: '/none' })).exit).toBe(2);
  });

  test('on a terminal, a command names the server that it asks', async () => {
    const acme = await serve(organizationOf('acme'));
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN: 'cos_pat_e' };
    expect((await type('org list', env)).err).toBe('');
    const terminal = vi
      .spyOn(process, 'stderr', 'get')
      .mockReturnValue(Object.create(process.stderr, { isTTY: { value: true } }));
    onTestFinished(() => terminal.mockRestore());
    expect((await type('org list', env)).err).toContain(`Server: ${acme.url}\n`);
    expect((await type('org list --quiet', env)).err).toBe('');
  });

  test('--org may be left out for the only organization; with several the refusal lists them', async () => {
    const page = (items: unknown[]) => ({ items, nextCursor: null });
    const slugs = ['one', 'two'];
    const acme = await serve((request, response) =>
      json(
        response,
        200,
        page(
          request.url?.startsWith('/api/v1/orgs?')
            ? slugs.map((slug) => ({ id, slug, name: slug, createdAt }))
            : [],
        ),
      ),
    );
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN: 'cos_pat_e' };
    expect(await type('member list', env)).toMatchObject({
      exit: 2,
      err: expect.stringContaining('one, two'),
    });
    expect((await type('member list', { ...env, IDCTL_ORG: 'two' })).exit).toBe(0);
    slugs.pop();
    expect((await type('member list', env)).exit).toBe(0);
    expect(acme.asked.at(-1)).toContain('/api/v1/orgs/one/members');
    slugs.pop();
    expect((await type('member list', env)).err).toContain('you are not a member of');
  });
});
