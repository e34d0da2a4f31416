import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority } from '../support/certificates.ts';
import { id, json, organizationOf, serve } from '../support/fake-server.ts';
import { freePorts } from '../support/ports.ts';
import { type Typed, typeLine } from '../support/typing.ts';

// Tests commands against servers that are not trusted, unreachable or failing.

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'idctl-failing-'));
});
afterEach(() => rm(home, { recursive: true }));

const type = (line: string, env: Record<string, string> = {}): Promise<Typed> =>
  typeLine(line.split(' '), { HOME: home, ...env });

describe('interface page: TLS is verified, and plain http is only for this machine', () => {
  test.each(['http://192.0.2.1', 'http://id.acme.test', 'ftp://id.acme.test', 'https://a@b.test'])(
    '%s is refused',
    async (url) => {
      expect((await type(`login ${url} --token-file /dev/null`)).exit).toBe(2);
      const env = { IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e' };
      expect((await type('org list', env)).exit).toBe(2);
      expect((await type(`org list --server ${url}`)).exit).toBe(2);
    },
  );

  test('a certificate is trusted only with its authority given, whatever Node’s variables say', async () => {
    const folder = (name: string) => mkdtemp(join(home, name));
    const authority = await createAuthority(await folder('ca-'));
    const other = await createAuthority(await folder('other-'));
    const { certFile, keyFile } = await authority.issue('IP:127.0.0.1');
    const [key, cert] = [await readFile(keyFile, 'utf8'), await readFile(certFile, 'utf8')];
    const acme = await serve(organizationOf('acme'), { key, cert });
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN: 'cos_pat_e' };
    for (const more of [
      {},
      { IDCTL_CA_FILE: other.caFile },
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    ]) {
      const { exit, err } = await type('org list', { ...env, ...more });
      expect([exit, err]).toEqual([3, expect.stringContaining('is not trusted')]);
    }
    expect(acme.asked).toEqual([]);
    expect((await type('org list', { ...env, IDCTL_CA_FILE: authority.caFile })).exit).toBe(0);
    const login = `login ${acme.url} --token-file ${join(home, 'token')}`;
    await writeFile(join(home, 'token'), 'cos_pat_a');
    expect((await type(login)).exit).toBe(3);
    expect((await type(`${login} --ca-file ${authority.caFile}`)).exit).toBe(0);
    expect((await type('org list')).exit).toBe(0);
    const name = '--name by-variable';
    expect((await type(`${login} ${name}`, { IDCTL_CA_FILE: other.caFile })).exit).toBe(3);
    expect((await type(`${login} ${name}`, { IDCTL_CA_FILE: authority.caFile })).exit).toBe(0);
    expect((await type('org list --server by-variable')).exit).toBe(0);
    expect((await type('org list', { ...env, IDCTL_CA_FILE: keyFile })).exit).toBe(2);
  });
});

describe('interface page: exit codes for servers that fail', () => {
  const text = (status: number, body: string, headers = {}) =>
    serve((_, response) => void response.writeHead(status, headers).end(body));
  const problem = (status: number, code: string, detail = 'No.') =>
    serve((_, response) => void json(response, status, { code, detail, title: 'x', status }));
  const exitOf = async ({ url }: { url: string }) =>
    (await type('org list', { IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e' })).exit;

  test('a redirect is not followed: the exit code is 3, and the token goes to no other server', async () => {
    const other = await serve(organizationOf('other'));
    for (const status of [301, 302, 307, 308])
      expect(await exitOf(await text(status, '', { location: `${other.url}/` }))).toBe(3);
    expect(other.asked).toEqual([]);
  });

  test('a server that is unreachable or does not answer gives exit code 3', async () => {
    const [port] = await freePorts(1);
    expect(await exitOf({ url: `http://127.0.0.1:${port}` })).toBe(3);
    expect(await exitOf({ url: 'https://none.invalid' })).toBe(3);
    const silent = await serve(() => {});
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const limits: number[] = [];
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((limit) => {
      limits.push(limit);
      return timeout(50);
    });
    onTestFinished(() => spy.mockRestore());
    expect(await exitOf(silent)).toBe(3);
    expect(limits).toEqual([30_000]);
  });

  test('a server without the route gives exit code 3, even an older server that answers not_found', async () => {
    expect(await exitOf(await problem(404, 'route_not_found'))).toBe(3);
    expect(await exitOf(await problem(405, 'method_not_allowed'))).toBe(3);
    expect(await exitOf(await problem(404, 'not_found', 'There is nothing at /api.'))).toBe(3);
    expect(await exitOf(await problem(404, 'not_found', 'There is no organization.'))).toBe(1);
  });

  test('a 5xx without a code gives exit code 70; with a code, the exit code is the same as on the host', async () => {
    expect(await exitOf(await text(502, '<html>Bad gateway</html>'))).toBe(70);
    expect(await exitOf(await text(500, ''))).toBe(70);
    expect(await exitOf(await problem(500, 'internal_error'))).toBe(70);
    expect(await exitOf(await problem(503, 'database_busy'))).toBe(3);
    expect(await exitOf(await problem(502, 'provider_failed'))).toBe(3);
    expect(await exitOf(await problem(503, 'of_a_newer_server'))).toBe(3);
    expect(await exitOf(await problem(409, 'of_a_newer_server'))).toBe(1);
    expect(await exitOf(await problem(409, 'domain_not_verified'))).toBe(8);
    expect(await exitOf(await problem(400, 'invalid_input'))).toBe(2);
  });

  test('over the network, a refused token’s hint names the command or page to get another token', async () => {
    const hintOf = async (status: number, code: string, hint: string) => {
      const { url } = await serve((_, response) =>
        json(response, status, { code, detail: 'No.', hint }),
      );
      const { err } = await type('org list', { IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e' });
      return err.replaceAll(url, 'URL');
    };
    expect(await hintOf(403, 'scope_required', 'Use a token of scope write.')).toContain(
      'idctl pat create --user EMAIL --name NAME --scope write. Then store it: idctl login URL',
    );
    expect(await hintOf(403, 'scope_required', 'Use a session.')).toContain('--scope admin');
    expect(await hintOf(403, 'session_required', 'Sign in.')).toContain(
      'Do this on the account page, URL/. Or the operator',
    );
    expect(await hintOf(401, 'invalid_credential', 'Refresh the session.')).toContain(
      'Create a token on the account page, URL/. Then store it: idctl login URL (or set IDCTL_TOKEN)',
    );
  });

  test('over the network, the hint is a command; of an older or a newer server, it is its text', async () => {
    const hintOf = async (next?: unknown) => {
      const hint = 'To list them: GET /api/v1/orgs';
      const { url } = await serve((_, response) =>
        json(response, 404, { code: 'not_found', detail: 'No.', hint, next }),
      );
      return (await type('org list', { IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e' })).err;
    };
    const list = { to: 'list them', operation: 'org.list' };
    expect(await hintOf([list])).toContain('hint: To list them, run: idctl org list\n');
    for (const next of [undefined, [{ ...list, operation: 'org.of-a-newer-server' }], 'x'])
      expect(await hintOf(next)).toContain('hint: To list them: GET /api/v1/orgs\n');
  });

  test('if one organization forbids the command and the others lack the object, “forbidden” is shown', async () => {
    const [mine, other] = [id, id.replace(/.$/, '1')];
    const acme = await serve((request, response) => {
      if (request.url?.startsWith('/api/v1/me'))
        return void json(response, 200, {
          id,
          email: null,
          organizations: [{ id: mine }, { id: other }],
        });
      const [status, code] = request.url?.includes(mine) ? [403, 'forbidden'] : [404, 'not_found'];
      json(response, status, { code, detail: `It is ${code}.`, title: 'x', status });
    });
    const env = { IDCTL_SERVER: acme.url, IDCTL_TOKEN: 'cos_pat_e' };
    const { err } = await type(`webhook deliveries ${id.replace(/.$/, '2')}`, env);
    expect(err).toContain('It is forbidden.');
    expect(acme.asked).toHaveLength(3);
  });

  test('a server that is not idctl gives exit code 3', async () => {
    expect(await exitOf(await text(200, '<html>Welcome</html>'))).toBe(3);
    expect(await exitOf(await text(404, '<html>Not found</html>'))).toBe(3);
    expect(await exitOf(await text(200, '{"items": [{}], "nextCursor": null}'))).toBe(3);
    expect(await exitOf(await text(200, ''))).toBe(3);
  });
});
