import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createdAt, id, json, serve } from '../support/fake-server.ts';
import { typeLine } from '../support/typing.ts';

// Tests the tables of lists on a terminal, of 80 columns unless a test says otherwise.

/** The lines that a list command prints if the server returns this one item. */
async function shown(line: string, item: object, columns = 80): Promise<string[]> {
  const home = await mkdtemp(join(tmpdir(), 'idctl-columns-'));
  const { stdout } = process;
  const terminal = Object.create(stdout, { isTTY: { value: true }, columns: { value: columns } });
  const spy = vi.spyOn(process, 'stdout', 'get').mockReturnValue(terminal);
  onTestFinished(async () => {
    spy.mockRestore();
    await rm(home, { recursive: true });
  });
  const { url } = await serve((request, response) =>
    request.url?.startsWith('/api/v1/me?') || request.url === '/api/v1/me'
      ? void json(response, 200, { id, email: 'ada@acme.test', organizations: [{ id }] })
      : void json(response, 200, { items: [item], nextCursor: null, hasMore: false }),
  );
  const env = { HOME: home, IDCTL_SERVER: url, IDCTL_TOKEN: 'cos_pat_e', NO_COLOR: '1' };
  return (await typeLine(line.split(' '), env)).out.trimEnd().split('\n');
}

test('a terminal that reports a width of 0 gets lines of 80 columns', async () => {
  const session = { id, method: 'password', createdAt, lastSeenAt: createdAt, current: true };
  const item = { ...session, address: '192.0.2.1', userAgent: null };
  const lines = await shown('session list', item, 80);
  expect(await shown('session list', item, 0)).toEqual(lines);
});

test('session list names the browser, and the id that session revoke needs', async () => {
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537 Chrome/140.0 Safari/537';
  const lines = await shown('session list', {
    ...{ id, method: 'password', createdAt, lastSeenAt: createdAt, current: true },
    ...{ address: '192.0.2.1', userAgent },
  });
  expect(lines).toEqual([
    'SEEN                  BROWSER          ID',
    `2026-11-22T10:00:00Z  Chrome on Linux  ${id}`,
    '  Method: password  Address: 192.0.2.1',
  ]);
});

test('client list shows whole addresses, including those of forward auth', async () => {
  const uris = ['https://wiki.acme.test/oauth2/callback', 'https://wiki.acme.test/other/callback'];
  const lines = await shown('client list --org acme', {
    ...{ clientId: `client-${id}`, issuer: 'https://id.test', discoveryUrl: 'https://id.test/x' },
    ...{ name: 'Wiki', homeUrl: null, redirectUris: uris, postLogoutRedirectUris: [] },
    ...{ backchannelLogoutUri: null },
    ...{ forwardAuthOrigins: ['https://docs.acme.test'], public: false, pkce: true },
    ...{ idTokenAlg: 'RS256', project: null, role: null, createdAt },
  });
  expect(lines).toEqual([
    'NAME  PROJECT  SECRET  ADDRESSES',
    'Wiki  -        stored  https://wiki.acme.test/oauth2/callback,',
    '                       https://wiki.acme.test/other/callback,',
    '                       https://docs.acme.test',
  ]);
});

test('event list shows whole addresses, and puts columns that do not fit below the row', async () => {
  const lines = await shown('event list --org acme', {
    ...{ id, kind: 'signin.refused', at: createdAt, actor: { kind: 'anonymous' } },
    subject: { type: 'user', id, name: 'ada.lovelace@marketing.acme.example' },
    data: { reason: 'signin_method_off' },
  });
  expect(lines).toEqual([
    'AT                    KIND            ACTOR',
    '2026-11-22T10:00:00Z  signin.refused  anonymous',
    '  Subject: ada.lovelace@marketing.acme.example  Reason: signin_method_off',
  ]);
});

test('sso attempts shows the result, stage and address of a sign-in, and its groups below the row', async () => {
  const reference = '01a205c4-81f1-77a6-9e79-a38fdc538e51';
  const lines = await shown('sso attempts --org acme', {
    ...{ id, at: createdAt, connection: id, stage: 'userinfo', ok: false },
    ...{
      code: 'domain_not_verified',
      email: 'bob@else.example',
      groups: ['engineering'],
      reference,
    },
  });
  expect(lines).toEqual([
    'AT                    RESULT               STAGE     E-MAIL',
    '2026-11-22T10:00:00Z  domain_not_verified  userinfo  bob@else.example',
    `  Groups: engineering  Reference: ${reference}`,
  ]);
});
