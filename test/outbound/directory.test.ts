import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DirectoryServer } from '../../src/outbound/directory/directory.ts';
import { createAuthority } from '../support/certificates.ts';
import { counterpartMissing, secondAddress } from '../support/counterpart.ts';
import { hintLike } from '../support/hints.ts';
import { openNetwork } from '../support/network.ts';
import { freePorts } from '../support/ports.ts';
import {
  entry,
  type Request,
  reference,
  result,
  type Script,
  startScriptedDirectory,
} from '../support/scripted-directory.ts';
import { directoryPassword, service, startSlapd, suffix } from '../support/slapd.ts';

const account = { dn: service.bindDn, password: service.bindPassword };
const query = {
  base: `ou=people,${suffix}`,
  scope: 'sub' as const,
  filter: '(uid=ada)',
  attributes: ['mail'],
  limit: 2,
};
/** Limits for a server whose answer never comes. */
const brisk = { connect: 400, operation: 500, total: 1000 };
/** Limits that a slow machine keeps. */
const patient = { connect: 60_000, operation: 60_000, total: 60_000 };
const dn = `uid=ada,ou=people,${suffix}`;

/** Starts a visit to a server. */
async function visit(
  server: Partial<DirectoryServer>,
  more: Parameters<typeof openNetwork>[0] = {},
  limits = patient,
) {
  const network = openNetwork({ outbound: { allow: ['127.0.0.1', 'localhost'] }, ...more }, limits);
  onTestFinished(() => network.close());
  return network.directoryClient({ uri: '', tls: true, caCertificate: null, ...server });
}

/** Starts a server that answers by the script, and a visit to it. */
async function scripted(
  script: Script,
  greet?: Parameters<typeof startScriptedDirectory>[1],
  limits = patient,
) {
  const directory = await startScriptedDirectory(script, greet);
  onTestFinished(() => directory.stop());
  return { directory, visit: await visit({ uri: directory.uri, tls: false }, {}, limits) };
}

const refusal = (at: string, reason: string) => ({
  code: 'upstream_failed',
  extra: { at, reason },
});

/** A script that accepts every bind, and answers a search with `answers`. */
const finding =
  (...answers: ((request: Request) => Buffer)[]): Script =>
  (request) =>
    request.kind === 'search'
      ? Buffer.concat(answers.map((answer) => answer(request)))
      : result(request);

describe('L5 a server that breaks the protocol', () => {
  test('L5 a server that sends nothing is given up after the time limit', async () => {
    const { visit } = await scripted(() => undefined, undefined, brisk);
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('answer', 'timeout'));
  });

  test('L5 connecting, an answer and the whole visit each have a time limit', async () => {
    const silent = await startScriptedDirectory(() => undefined);
    onTestFinished(() => silent.stop());
    const long = 300_000;
    const within = (limits: typeof brisk) => visit({ uri: silent.uri, tls: false }, {}, limits);
    const operation = await within({ connect: long, operation: 300, total: long });
    await expect(operation.prove(account)).rejects.toMatchObject(refusal('answer', 'timeout'));
    const total = await within({ connect: long, operation: long, total: 300 });
    await expect(total.prove(account)).rejects.toMatchObject(refusal('answer', 'timeout'));
    const secure = { uri: silent.uri.replace('ldap:', 'ldaps:') };
    const connect = await visit(secure, {}, { connect: 300, operation: long, total: long });
    await expect(connect.greet()).rejects.toMatchObject(refusal('TLS', 'timeout'));
  });

  test('L5 a server that sends a byte at a time is given up after the time limit', async () => {
    const dripping: Script = (request) => {
      const whole = result(request);
      let at = 0;
      const timer = setInterval(() => request.socket.write(whole.subarray(at, ++at)), 100);
      request.socket.once('close', () => clearInterval(timer));
      return undefined;
    };
    const { visit } = await scripted(dripping, undefined, brisk);
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('answer', 'timeout'));
  });

  test('L5 several requests together share one time limit', async () => {
    const slow: Script = (request) => {
      setTimeout(() => request.socket.write(result(request)), 200);
      return undefined;
    };
    const { visit } = await scripted(slow, undefined, brisk);
    const ask = async () => {
      for (let asked = 0; asked < 20; asked += 1) await visit.prove(account);
    };
    await expect(ask()).rejects.toMatchObject({ extra: { reason: 'timeout' } });
  });

  test('L5 a server that closes or resets the connection fails as closed', async () => {
    const rude = await scripted(({ socket }) => void socket.resetAndDestroy());
    await expect(rude.visit.prove(account)).rejects.toMatchObject(refusal('answer', 'closed'));
    const polite = await scripted(({ socket }) => void socket.end());
    await expect(polite.visit.prove(account)).rejects.toMatchObject(refusal('answer', 'closed'));
  });

  test.each([
    ['an HTTP response', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['an indefinite length', Buffer.from([0x30, 0x80, 0x02, 0x01, 0x02])],
    [
      'a length beyond the message',
      Buffer.from([0x30, 0x0e, 2, 1, 2, 0x61, 9, 10, 1, 0, 4, 0, 4, 0, 0x87, 0x20]),
    ],
    [
      'an attribute list beyond the entry',
      Buffer.from([0x30, 11, 2, 1, 2, 0x64, 6, 4, 0, 0x30, 0x20, 0x31, 0x31]),
    ],
    ['a result without a code', Buffer.from([0x30, 5, 2, 1, 2, 0x61, 0])],
  ])('L5 a server that answers with %s fails as malformed', async (_, bytes) => {
    const { visit } = await scripted(() => bytes);
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('answer', 'malformed'));
  });

  test('L5 a server that sends too much, in one message or in many, is cut off', async () => {
    const endless = await scripted((request) => {
      const head = Buffer.from([0x30, 0x84, 0x7f, 0, 0, 0]);
      return request.kind === 'search'
        ? Buffer.concat([head, Buffer.alloc(2 ** 20)])
        : result(request);
    });
    await expect(endless.visit.search(account, query)).rejects.toMatchObject(
      refusal('answer', 'too_large'),
    );
    const many = await scripted((request) => {
      if (request.kind !== 'search') return result(request);
      const batch = Buffer.concat(
        Array.from({ length: 500 }, () => entry(request, dn, { mail: ['a@b.test'] })),
      );
      const pour = () => {
        while (!request.socket.destroyed && request.socket.write(batch));
      };
      request.socket.on('drain', pour);
      pour();
      return undefined;
    });
    const before = process.memoryUsage();
    // Measures this thread's processor time, so that other load on the machine does not count.
    let longest = 0;
    let last = process.threadCpuUsage();
    const watch = setInterval(() => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, (user + system) / 1000);
      last = process.threadCpuUsage();
    }, 10);
    await expect(many.visit.search(account, query)).rejects.toMatchObject(
      refusal('answer', 'too_large'),
    );
    clearInterval(watch);
    const grown = process.memoryUsage().rss - before.rss;
    expect(grown).toBeLessThan(64 * 2 ** 20);
    expect(longest).toBeLessThan(1000);
  });
});

describe('L5 a fresh connection for each bind', () => {
  test('L5 service account and user never share a connection, and each connection is closed', async () => {
    const open = new Set<number>();
    let connections = 0;
    const { directory, visit } = await scripted(
      finding((request) => result(request)),
      (socket) => {
        const number = ++connections;
        open.add(number);
        socket.on('close', () => open.delete(number));
      },
    );
    await visit.search(account, query);
    await visit.prove({ dn, password: 'x' });
    const binds = directory.requests.filter(({ kind }) => kind === 'bind');
    expect(binds.map(({ connection, dn: who }) => [connection, who])).toEqual([
      [1, account.dn],
      [2, dn],
    ]);
    await expect.poll(() => open.size).toBe(0);
  });

  test('L2 a bind without a name or a password is never sent', async () => {
    const { directory, visit } = await scripted((request) => result(request));
    await expect(visit.prove({ dn, password: '' })).rejects.toThrow('a bind without');
    await expect(visit.prove({ dn: '', password: 'x' })).rejects.toThrow('a bind without');
    expect(directory.requests).toEqual([]);
  });

  test('no request starts inside a transaction', async () => {
    const idle = (what: string) => {
      throw new Error(`${what} inside a transaction`);
    };
    const network = openNetwork({ outbound: { allow: ['127.0.0.1'] } }, {}, idle);
    const server = { uri: 'ldap://127.0.0.1:1', tls: false, caCertificate: null };
    const there = await network.directoryClient(server);
    await expect(there.greet()).rejects.toThrow('a question to a directory inside a transaction');
  });
});

describe('L4 search results', () => {
  test('L4 references are not followed, and a result over the limit is reported', async () => {
    const { visit } = await scripted(
      finding(
        (request) => reference(request, 'ldap://other.test/dc=acme,dc=test'),
        (request) =>
          entry(request, dn, { MAIL: ['ada@acme.test'], photo: [Buffer.from([0xff, 0xfe])] }),
        (request) => result(request, 4),
      ),
    );
    const found = await visit.search(account, query);
    expect(found).toMatchObject({ ok: true, value: { more: true, entries: [{ dn }] } });
    const attributes = found.ok ? found.value.entries[0]?.attributes : undefined;
    expect(attributes?.get('mail')).toEqual(['ada@acme.test']);
    expect(attributes?.get('photo')).toEqual([Buffer.from([0xff, 0xfe])]);
  });

  test('L4 a DN that is not text is refused', async () => {
    const { visit } = await scripted(
      finding((request) => entry(request, Buffer.from([0x63, 0x6e, 0x3d, 0xff]), {}), result),
    );
    await expect(visit.search(account, query)).rejects.toMatchObject(
      refusal('answer', 'malformed'),
    );
  });

  test('response controls that idctl did not ask for are ignored', async () => {
    const { visit } = await scripted((request) => {
      const plain = result(request);
      const control = Buffer.concat([Buffer.from([0xa0, 8, 0x30, 6, 4, 4]), Buffer.from('1.2.')]);
      return Buffer.concat([
        Buffer.from([0x30, plain.length - 2 + control.length]),
        plain.subarray(2),
        control,
      ]);
    });
    expect(await visit.prove(account)).toEqual({ ok: true, value: null });
  });
});

describe('§4.2 the refusals of a directory', () => {
  const ad = (data: string) =>
    `80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data ${data}, v1db1`;
  test.each([
    [49, 'invalid credentials', 'credentials_refused'],
    [49, ad('525'), 'user_unknown'],
    [49, ad('52e'), 'wrong_password'],
    [49, ad('530'), 'logon_hours'],
    [49, ad('531'), 'workstation'],
    [49, ad('532'), 'password_expired'],
    [49, ad('533'), 'account_disabled'],
    [49, ad('701'), 'account_expired'],
    [49, ad('773'), 'must_change_password'],
    [49, ad('775'), 'account_locked'],
    [49, ad('999'), 'credentials_refused'],
    [8, '00002028: LdapErr: DSID-0C090259, data 52e', 'stronger_auth_required'],
    [13, 'TLS confidentiality required', 'encryption_required'],
    [34, 'invalid DN', 'dn_malformed'],
    [53, 'unauthenticated bind disallowed', 'not_permitted'],
    [80, 'other', 'refused'],
  ])('a bind answered with %i and "%s" is reported as %s', async (code, said, reason) => {
    const { visit } = await scripted((request) => result(request, code, said));
    expect(await visit.prove(account)).toEqual({ ok: false, at: 'bind', reason, code });
  });

  test.each([
    [1, 'bind_required'],
    [10, 'referred'],
    [11, 'limit_exceeded'],
    [32, 'base_missing'],
    [50, 'not_permitted'],
    [80, 'refused'],
  ])('a search answered with %i is reported as %s', async (code, reason) => {
    const { visit } = await scripted(finding((request) => result(request, code)));
    expect(await visit.search(account, query)).toEqual({ ok: false, at: 'search', reason, code });
  });

  test.each([51, 52])('L7 a directory that answers %i counts as unreachable', async (code) => {
    const { visit } = await scripted((request) => result(request, code));
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('answer', 'busy'));
  });
});

describe('S9 addresses a connection may go to', () => {
  test('S9 a connection to this machine is refused before a byte is sent, unless the operator allows it', async () => {
    const directory = await startScriptedDirectory((request) => result(request));
    onTestFinished(() => directory.stop());
    for (const uri of [directory.uri, directory.uri.replace('127.0.0.1', 'localhost')]) {
      const refused = await visit({ uri, tls: false }, { outbound: { allow: [] } });
      await expect(refused.prove(account)).rejects.toMatchObject({
        code: 'outbound_refused',
        extra: { reason: 'loopback' },
      });
    }
    expect(directory.received()).toBe(0);
  });

  const elsewhere = secondAddress();
  test.skipIf(elsewhere === undefined)(
    'L5 passwords leave this machine unencrypted only if the operator allows it; else no byte is sent',
    async () => {
      const directory = await startScriptedDirectory(
        (request) => result(request),
        undefined,
        elsewhere,
      );
      onTestFinished(() => directory.stop());
      const outbound = { allow: [elsewhere ?? ''] };
      const refused = await visit({ uri: directory.uri, tls: false }, { outbound });
      await expect(refused.prove(account)).rejects.toMatchObject({
        code: 'outbound_refused',
        hint: hintLike('ldap.allowPlaintext'),
      });
      expect(directory.received()).toBe(0);
      const allowed = await visit(
        { uri: directory.uri, tls: false },
        { outbound, ldap: { allowPlaintext: 'on' } },
      );
      expect(await allowed.prove(account)).toMatchObject({ ok: true });
    },
  );

  test('a connection to a closed port or an unknown name fails, and the refusal has the reason', async () => {
    const [port] = await freePorts(1);
    const closed = await visit({ uri: `ldap://127.0.0.1:${port}`, tls: false });
    await expect(closed.greet()).rejects.toMatchObject(refusal('connection', 'connection_refused'));
    const nobody = await visit({ uri: 'ldaps://nobody.invalid' });
    await expect(nobody.greet()).rejects.toMatchObject(refusal('name', 'name_not_found'));
  });
});

describe('L5 StartTLS', () => {
  const starttls = async (script: Script, limits?: typeof brisk) => {
    const directory = await startScriptedDirectory(script);
    onTestFinished(() => directory.stop());
    return { directory, visit: await visit({ uri: directory.uri, tls: true }, {}, limits) };
  };

  test('L5 a directory without StartTLS does not get a password', async () => {
    const { directory, visit } = await starttls((request) => result(request, 2, 'unsupported'));
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('TLS', 'starttls_refused'));
    expect(directory.requests.map(({ kind }) => kind)).toEqual(['extended']);
  });

  test('L5 bytes inserted before the encryption do not count as encrypted', async () => {
    // A successful answer to the bind that follows the handshake, without its last byte.
    const prefix = result({ id: 2, kind: 'bind' }).subarray(0, 13);
    const { visit } = await starttls((request) => Buffer.concat([result(request), prefix]));
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('TLS', 'malformed'));
  });

  test('L5 a directory that agrees to StartTLS and then sends nothing is given up after the time limit', async () => {
    const agreeing: Script = (request) =>
      request.kind === 'extended' ? result(request) : undefined;
    const { visit } = await starttls(agreeing, brisk);
    await expect(visit.prove(account)).rejects.toMatchObject(refusal('TLS', 'timeout'));
  });
});

test('L5 TLS before 1.2 is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const authority = await createAuthority(folder);
  const leaf = await authority.issue('IP:127.0.0.1');
  const [cert, key] = await Promise.all([readFile(leaf.certFile), readFile(leaf.keyFile)]);
  const old = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  } as const;
  const server = createTlsServer({ cert, key, ...old }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  await new Promise((listening) => server.once('listening', listening));
  onTestFinished(() => new Promise<void>((closed) => void server.close(() => closed())));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const caCertificate = await readFile(authority.caFile, 'utf8');
  const { greet } = await visit({ uri: `ldaps://127.0.0.1:${port}`, caCertificate });
  await expect(greet()).rejects.toMatchObject(refusal('TLS', 'tls_missing'));
});

describe.skipIf(counterpartMissing('slapd'))('L5 against OpenLDAP', () => {
  const started = async (options: Parameters<typeof startSlapd>[0] = {}) => {
    const slapd = await startSlapd(options);
    onTestFinished(() => slapd.stop());
    return slapd;
  };

  test('§4.2 over ldaps and StartTLS, a search and the right password succeed, and a wrong one is refused', async () => {
    const slapd = await started();
    await slapd.person('ada', { mail: ['ada@acme.test', 'ada@other.test'] });
    for (const uri of [slapd.ldaps, slapd.ldap]) {
      const there = await visit({ uri, caCertificate: slapd.ca });
      const found = await there.search(account, query);
      expect(found).toMatchObject({ ok: true, value: { more: false, entries: [{ dn }] } });
      expect(found.ok && found.value.entries[0]?.attributes.get('mail')).toHaveLength(2);
      expect(await there.prove({ dn, password: directoryPassword })).toEqual({
        ok: true,
        value: null,
      });
      const wrong = { ok: false, at: 'bind', reason: 'credentials_refused', code: 49 };
      expect(await there.prove({ dn, password: 'wrong' })).toEqual(wrong);
      expect(await there.search({ ...account, password: 'wrong' }, query)).toEqual(wrong);
    }
    expect(slapd.log.join('\n')).not.toContain('connection lost');
  });

  test('L5 an untrusted chain, another name and an expired certificate each have a message; no password is sent', async () => {
    const slapd = await started({ names: ['DNS:localhost'] });
    const expired = await started({ expired: true });
    const cases = [
      [{ uri: slapd.ldaps.replace('127.0.0.1', 'localhost') }, 'tls_untrusted', 'not trusted'],
      [{ uri: slapd.ldaps, caCertificate: slapd.ca }, 'tls_name_mismatch', 'for another name'],
      [{ uri: slapd.ldap, caCertificate: slapd.ca }, 'tls_name_mismatch', 'for another name'],
      [{ uri: expired.ldaps, caCertificate: expired.ca }, 'tls_expired', 'not valid now'],
      [
        { uri: slapd.ldap.replace('ldap:', 'ldaps:'), caCertificate: slapd.ca },
        'tls_missing',
        'speak TLS',
      ],
    ] as const;
    for (const [server, reason, words] of cases) {
      const there = await visit(server);
      await expect(there.prove(account)).rejects.toMatchObject({
        ...refusal('TLS', reason),
        message: expect.stringContaining(words),
      });
    }
    expect([...slapd.log, ...expired.log].join('\n')).not.toContain('BIND dn="cn=idctl');
  });

  test('L5 outbound.caFile is trusted too; a certificate of the connection replaces all other authorities', async () => {
    const slapd = await started();
    const other = await started();
    const folder = await mkdtemp(join(tmpdir(), 'idctl-ca-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, slapd.ca);
    const outbound = { allow: ['127.0.0.1'], caFile };
    const trusting = await visit({ uri: slapd.ldaps }, { outbound });
    expect((await trusting.greet()).validUntil).toBeInstanceOf(Date);
    const narrower = await visit({ uri: slapd.ldaps, caCertificate: other.ca }, { outbound });
    await expect(narrower.greet()).rejects.toMatchObject(refusal('TLS', 'tls_untrusted'));
  });
});
