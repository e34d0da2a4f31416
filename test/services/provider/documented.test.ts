import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Session } from '../../../src/database/models/session.ts';
import { strengthOf } from '../../../src/services/signin/provider/strength.ts';
import { person } from '../../support/builders.ts';
import { createClient } from '../../support/http.ts';
import { openInstance } from '../../support/instance.ts';
import { untilListening } from '../../support/nginx.ts';
import { freePorts } from '../../support/ports.ts';
import { application, browserOf, walk, walkToDenial } from '../../support/relying-party.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/applications.md'), 'utf8');

test('docs/applications.md names every amr value that a session can have', () => {
  const [, list = ''] = /`amr` says\s+how the person signed in \(([^)]*)\)/.exec(page) ?? [];
  const methods: Session['method'][] = ['password', 'magicCode', 'sso', 'passkey'];
  const said = methods.flatMap((method) =>
    [true, false].flatMap((secondFactor) => {
      const session = { id: '', accountId: '', method, startedAt: new Date(), secondFactor };
      return strengthOf({ ...session, hasPasskey: false }).amr;
    }),
  );
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).toSorted()).toEqual(
    [...new Set(said)].toSorted(),
  );
});

test('the Express program of docs/applications.md signs people in', async () => {
  const program = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
  const lines = program.trimEnd().split('\n');
  expect([lines.length <= 41, lines.filter((line) => line.length > 100)]).toEqual([true, []]);
  // The quickstart copies this file.
  const copied = readFileSync(
    resolve(import.meta.dirname, '../../../docs/examples/app.mjs'),
    'utf8',
  );
  expect(copied).toBe(program);
  const folder = resolve(import.meta.dirname, '../../../.tmp');
  const file = resolve(folder, `express-${process.pid}.mjs`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, program);
  const idctl = await openInstance();
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const app = await application(idctl, { redirectUris: [`${url}/callback`] });
  const child = spawn(process.execPath, [file], {
    stdio: 'ignore',
    env: {
      ISSUER: idctl.baseUrl,
      CLIENT_ID: app.clientId,
      CLIENT_SECRET: app.secret,
      URL: url,
      PORT: String(port),
    },
  });
  const ended = once(child, 'exit');
  try {
    await untilListening(port, async () => {
      if (child.exitCode !== null) throw new Error('the program ended');
    });
    const own = createClient(url, { keepCookies: true });
    const browser = await browserOf(idctl, app.email);
    const start = async () => {
      const there = new URL(String((await own.get('/')).headers['location']));
      return there.pathname + there.search;
    };
    const signIn = async () => new URL(await walk(browser, await start()));
    const first = await signIn();
    // The program refuses a browser without its cookie, and the code of another sign-in.
    const foreign = await createClient(url).get(first.pathname + first.search);
    expect([foreign.status, foreign.headers['location']]).toEqual([302, '/']);
    const injected = await signIn();
    injected.searchParams.set('code', first.searchParams.get('code') ?? '');
    const failed = await own.get(injected.pathname + injected.search);
    expect([failed.status, failed.body]).toEqual([
      403,
      expect.stringContaining('The sign-in failed.'),
    ]);
    // A stranger chooses to go back from the page of idctl.
    const stranger = await browserOf(idctl, String((await person(idctl)).email));
    const { back: denied } = await walkToDenial(stranger, await start());
    const refused = await own.get(denied.pathname + denied.search);
    expect([refused.status, refused.body]).toEqual([
      403,
      '<p>You do not have access to this application.</p><p><a href="/">Try again</a></p>',
    ]);
    const back = await signIn();
    const { body } = await own.get(back.pathname + back.search);
    expect(body).toEqual({
      sub: app.member.id,
      name: 'Ada Byron',
      email: app.email,
      groups: ['member'],
    });
  } finally {
    child.kill();
    await ended;
    await rm(file);
  }
});
