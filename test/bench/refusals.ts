import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { z } from 'zod';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { startDaemon } from '../support/daemon.ts';
import { asInstalled } from './child.ts';

// The price of a refusal (security X11): sends a full-size body that is refused to every route of
// the OpenAPI document that takes one, and to SCIM. Prints the processor time of the daemon. A
// caller is refused for who asks, for the size, for the number of values or for the schema.

const folder = await mkdtemp(join(tmpdir(), 'idctl-refusals-'));
const database = `sqlite:${join(folder, 'idctl.db')}`;
const keyFile = join(folder, 'master.key');
await createKeyFile(keyFile);
const tokens = await populate();
const preload = new URL('./processor-usage.ts', import.meta.url).href;
const daemon = await startDaemon({ database, keyFile, env: { ...asInstalled }, preload });

interface Case {
  route: string;
  why: 'who' | 'size' | 'values' | 'schema';
  method: string;
  path: string;
  body: string;
  headers: Record<string, string>;
}

const described = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))),
});

try {
  const cases = [...(await casesOfRoutes()), ...casesOfScim()];
  // Node compiles the code, and the thread for large bodies starts, before anything is measured.
  for (const one of cases) await send(one);
  process.stdout.write(`${row('route', 'why', 'bytes', 'status', 'answer', 'ms')}\n`);
  const before = await usage();
  for (const one of cases) process.stdout.write(`${await measured(one)}\n`);
  // The thread for large bodies ends.
  await wait(15_000);
  const grown = (await usage()).mib - before.mib;
  process.stdout.write(`Resident memory grew by ${grown.toFixed(0)} MiB.\n`);
} finally {
  await daemon.stop();
  await rm(folder, { recursive: true, force: true });
}

async function populate() {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const address = { ...settings.database, url: database };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: address };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const tokenOf = async (email: string) => {
    await createUser(operator, { email, name: 'Ada', password: 'correct horse battery' });
    if (email.startsWith('owner')) await addMember(operator, { org: 'acme', email, role: 'owner' });
    return (await createToken(operator, { user: email, name: 'bench', scope: 'admin' })).token;
  };
  await createOrganization(operator, { name: 'Acme' });
  const owner = await tokenOf('owner@acme.test');
  const stranger = await tokenOf('stranger@acme.test');
  const { token: scim, baseUrl } = await rotateScimToken(operator, { org: 'acme' });
  await app.close();
  return { owner, stranger, scim, scimPath: new URL(baseUrl).pathname };
}

async function casesOfRoutes(): Promise<Case[]> {
  const answer = await request(`${daemon.url}/api/v1/openapi.json`);
  const { paths } = described.parse(await answer.body.json());
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, route]) =>
      'requestBody' in route ? casesOf(method.toUpperCase(), path, route) : [],
    ),
  );
}

function casesOf(method: string, path: string, route: Record<string, unknown>): Case[] {
  const isMany = /\/(plan|apply|import)$/.test(path);
  const size = isMany ? 8 * 2 ** 20 : 100 * 1024;
  const isForm = JSON.stringify(route['requestBody']).includes('x-www-form-urlencoded');
  const isOpen = JSON.stringify(route['security'] ?? []) === '[]' || isForm;
  const make = (why: Case['why'], token: string | null, body: string): Case => ({
    route: `${method} ${path}`,
    why,
    method,
    path: path.replace('{org}', 'acme').replace(/\{\w+\}/g, '019ac3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d'),
    body,
    headers: {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  if (isForm) return [make('schema', null, formOf(size)), make('size', null, formOf(size + 100))];
  const caller = isOpen ? null : tokens.owner;
  return [
    ...(isOpen ? [] : [make('who', null, emptyObjects(size))]),
    ...(isOpen || !path.includes('{org}')
      ? []
      : [make('who', tokens.stranger, emptyObjects(size))]),
    make('size', caller, emptyObjects(size + 100)),
    make('values', caller, emptyObjects(size)),
    ...schemaBodies(path, size).map((body) => make('schema', caller, body)),
  ];
}

function emptyObjects(size: number): string {
  return `{"a":[${'{},'.repeat(size / 3 - 4)}{}]}`;
}

function formOf(size: number): string {
  return `${'x=1&'.repeat(900)}y=${'%22'.repeat((size - 4000) / 3)}`;
}

/** Bodies within the limits whose schema is costly to check. */
function schemaBodies(path: string, size: number): string[] {
  const long = (count: number) => 'x'.repeat(Math.floor(size / count) - 30);
  if (path.endsWith('/import')) {
    const good = (at: number) => `{"group":"g${at}","orgRole":"member"}`;
    return [`{"mappings":[${each(9999, good)},{}]${padding(size - 400_000)}}`];
  }
  if (/\/(plan|apply)$/.test(path)) {
    const member = (at: number) => `{"email":"p${at}@acme.test","role":"member"}`;
    const project = (at: number) =>
      `{"slug":"p${at}","name":"P","members":[${each(12, (one) => member(at * 12 + one))}]}`;
    return [
      `{"document":{"idctl":1,"members":[${each(80_000, () => '{}')}]${padding(size - 400_000)}}}`,
      `{"document":{"idctl":1,"members":[${each(5000, member)},{}]}}`,
      `{"document":{"idctl":1,"projects":[${each(9500, project)},{}]}}`,
      `{"document":{"idctl":1,"signin":{${each(390_000, (at) => `"k${at}":1`)}}}}`,
    ];
  }
  const objects = each(18, () => `{${each(99, (at) => `"key${at}":1`)}}`);
  return [
    `{${each(99, (at) => `"${at}${long(99)}":1`)}}`,
    `{"name":[${objects}],"a":"${'b'.repeat(size - 20_000)}"}`,
  ];
}

function padding(size: number): string {
  return `${' '.repeat(Math.max(0, size))},"x":1`;
}

function each(count: number, make: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join(',');
}

function casesOfScim(): Case[] {
  const size = 4 * 2 ** 20;
  const make = (why: Case['why'], path: string, body: string, token = tokens.scim): Case => ({
    route: `SCIM POST ${path}`,
    why,
    method: 'POST',
    path: tokens.scimPath + path,
    body,
    headers: { 'content-type': 'application/scim+json', authorization: `Bearer ${token}` },
  });
  const member = (at: number) => `{"value":"member-${at}"}`;
  const distinct = (at: number) => `{"key${at}${'k'.repeat(50)}":1}`;
  return [
    make('who', '/Groups', emptyObjects(size), 'scim_wrong'),
    make('size', '/Groups', emptyObjects(size + 100)),
    make('values', '/Groups', emptyObjects(size)),
    make('schema', '/Groups', `{"displayName":"g","members":[${each(49_990, member)}]}`),
    make('schema', '/Groups', `{"members":[${each(49_990, distinct)}]}`),
    make('size', '/Users', emptyObjects(size / 16 + 100)),
    make('values', '/Users', emptyObjects(size / 16 - 100).replaceAll('{},', '0,')),
    make('schema', '/Users', `{${each(12_000, (at) => `"k${at}":1`)}}`),
  ];
}

async function send({ method, path, body, headers }: Case) {
  // The routes are called with methods that undici knows.
  const answer = await request(daemon.url + path, { method: method as 'POST', headers, body });
  return { status: answer.statusCode, bytes: (await answer.body.arrayBuffer()).byteLength };
}

/** The median of several requests. */
async function measured(one: Case): Promise<string> {
  const times: number[] = [];
  let last = { status: 0, bytes: 0 };
  for (let turn = 0; turn < 5; turn += 1) {
    const before = await usage();
    last = await send(one);
    // The daemon may still read what it refuses.
    await wait(20);
    times.push((await usage()).ms - before.ms);
  }
  const median = times.toSorted((a, b) => a - b)[2] ?? 0;
  const { length } = one.body;
  return row(one.route, one.why, `${length}`, `${last.status}`, `${last.bytes}`, median.toFixed(1));
}

function row(route: string, ...rest: string[]): string {
  return route.padEnd(52) + rest.map((text) => text.padStart(9)).join('');
}

async function usage(): Promise<{ ms: number; mib: number }> {
  return z.object({ ms: z.number(), mib: z.number() }).parse(await daemon.ask('usage'));
}
