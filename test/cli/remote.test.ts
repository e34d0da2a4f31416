import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { reachOf } from '../../src/cli/reach.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMemberAsOperator } from '../../src/services/tenancy/memberships/add.ts';
import { changeWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { signedIn } from '../support/builders.ts';
import { foundCompany } from '../support/company.ts';
import { type Daemon, main as program, startDaemon, surroundings } from '../support/daemon.ts';
import { copyOfDatabase, migratedDatabaseUrl } from '../support/database.ts';
import { openIdctl } from '../support/idctl.ts';
import { freePorts } from '../support/ports.ts';
import { typeLine } from '../support/typing.ts';

// Runs every command that works over the network on two copies of one instance: on the host as the
// operator, and over the network as an owner with a session. Both must exit with the same code, and
// print the same, except for ids, times, secrets and the differences between the two actors.

const owner = 'olga@acme.test';

/**
 * One command line for each step. `$id` is the id that an earlier step showed, `$code` and `$next`
 * are authenticator codes, `$folder` is the folder of the files, and `$reference` that of a sign-in. A pass removes what it creates.
 */
const steps = readFileSync(`${import.meta.dirname}/remote.commands`, 'utf8')
  .trim()
  .split('\n');

/** Commands that cannot be compared in this way; each has its own test. */
const elsewhere = ['event tail', 'member leave', 'sso approve', 'ldap approve'];

/** One side of the comparison: its environment, and the latest id and secret that it showed. */
interface Side {
  env: Record<string, string>;
  id: string;
  secret: string;
}

let folder: string;
let daemon: Daemon;
let local: Side;
let remote: Side;
/** The access token of a member. */
let member: string;
let earlier: string;
let reference: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-remote-'));
  const [port = 0] = await freePorts(1);
  const place = { url: await migratedDatabaseUrl(), keyFile: join(folder, 'master.key') };
  await createKeyFile(place.keyFile);
  // This is the address of the test's daemon, so that the session is valid there.
  const settings = { baseUrl: `http://127.0.0.1:${port}`, orgs: { creation: 'anyone' } } as const;
  const idctl = await openIdctl(settings, place);
  const company = await foundCompany(idctl);
  await assertDomain(idctl.operator(), { org: 'acme', domain: 'acme.test' });
  // Otherwise the daemon would call the webhook, and record the failure.
  await changeWebhook(idctl.operator(), { org: 'acme', id: company.webhook, enabled: false });
  // So the owner sees the same organizations as the operator.
  await addMemberAsOperator(idctl.operator(), { org: 'rival', email: owner, role: 'owner' });
  earlier = (await signedIn(idctl, owner)).accessToken;
  await idctl.close();
  const copy = await copyOfDatabase(place.url);
  const common = {
    IDCTL_ORGS_CREATION: 'anyone',
    IDCTL_DOH_RESOLVER_URL: 'http://127.0.0.1:1',
  };
  daemon = await startDaemon({ database: copy, keyFile: place.keyFile, port, env: common });
  const side = (env: Record<string, string>): Side => {
    const { PATH: _, ...ours } = surroundings();
    return { env: { ...ours, ...env, HOME: folder }, id: '', secret: '' };
  };
  local = side({
    ...common,
    IDCTL_DATABASE: place.url,
    IDCTL_KEY_FILE: place.keyFile,
    IDCTL_BASE_URL: daemon.url,
  });
  member = company.member.accessToken;
  reference = company.reference;
  remote = side({ IDCTL_SERVER: daemon.url, IDCTL_TOKEN: company.owner.accessToken });
  await writeFile(join(folder, 'secret'), 'secret\n');
  const csv = (...lines: string[]) => `group,project,role\n${lines.join('\n')}\n`;
  await writeFile(join(folder, 'mappings.csv'), csv('A,website,viewer', 'B,website,admin'));
  await writeFile(join(folder, 'wrong.csv'), csv('A,website,viewer', 'B,none,admin'));
  await writeFile(join(folder, 'fewer.csv'), csv('A,website,viewer'));
  const document = (...lines: string[]) =>
    ['idctl: 1', 'organization: {slug: acme, name: Acme}', ...lines, ''].join('\n');
  await writeFile(
    join(folder, 'acme.yaml'),
    document(
      'projects: [{slug: shop, name: Shop, members: [{email: mia@acme.test, role: viewer}]}]',
    ),
  );
  await writeFile(join(folder, 'faults.yaml'), document('projects: [{slug: 7}]', 'domain: []'));
  await writeFile(
    join(folder, 'before.yaml'),
    document('projects: [{slug: website, name: Website}]'),
  );
}, 240_000);

afterAll(async () => {
  await daemon?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Types a line at one side. */
async function type(side: Side, line: string, json: boolean) {
  const code = (ahead: number) =>
    generateSync({ secret: side.secret, epoch: Math.floor(Date.now() / 1000) + ahead });
  const words = line.split(' ').map((word) =>
    word
      .replace('$id', side.id)
      .replace('$folder', folder)
      .replace('$reference', reference)
      .replace('$code', () => code(0))
      .replace('$next', () => code(30)),
  );
  const { exit, out, err } = await typeLine(json ? [...words, '--json'] : words, side.env);
  const found = (pattern: RegExp) => pattern.exec(out)?.slice(1).find(Boolean);
  side.id = found(/^ID: +(\S+)$|"id":"([^"]+)"/m) ?? side.id;
  side.secret = found(/^Secret: +([A-Z2-7]{32})$|"secret":"([A-Z2-7]{32})"/m) ?? side.secret;
  return { exit, out: alike(out), err: alike(err) };
}

/** The text with placeholders for ids, times and secrets. */
function alike(text: string): string {
  const ids = new Map<string, string>();
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      ids.set(id, ids.get(id) ?? `#${ids.size}`);
      return ids.get(id) ?? '';
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(
      /(cos_pat_|cos_secret_|scim_|whsec_|app-|svc-verify=|secret=|invitation=)[\w+/=-]+/g,
      '$1…',
    )
    .replace(/"(token|digest)":"[\w-]+"/g, '"$1":"…"')
    .replace(/\/setup\/[\w-]+/g, '/setup/TOKEN')
    .replace(/\b[A-Z2-7]{32}\b/g, 'SECRET')
    .replace(/\b[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}\b/g, 'CODE');
}

/**
 * The text without the differences between the actors. Only the owner has a role, is a member of a
 * new organization, and is the origin of what the owner adds. So column widths differ too.
 */
function withoutActor(text: string): string {
  const told = text
    .replace(/("slug":"(?:acme|newcomer|rival)","name":"[^"]*",)"role":"owner",/g, '$1')
    .replace(/"(changedBy|createdBy)":\{[^}]*\}/g, '"$1":{}')
    .replace(/^Changed by: .*$/gm, 'Changed by:')
    // Only the operator learns which resolver failed, and how.
    .replace(/The resolver [^"\n]* could not be reached\.?/g, 'The DNS could not be asked.')
    .replace(/Check doh\.resolverUrl [^"\n]*|Try again in a few minutes\. [^"\n]*/g, 'DNS hint')
    .replace(/"current":true/g, '"current":false')
    .replace(/Latecomer \(1 member\)/g, 'Latecomer (0 members)')
    .replace(/(^Members: +|"members":)1/gm, '$10')
    .replace(/"origin":\{"kind":"(manual","by":"#\d+|operator)"\}/g, '"origin":"by hand"');
  return /\b(manual|operator)\b/.test(told)
    ? told.replace(/\b(manual|operator)\b/g, 'by hand').replace(/ {2,}/g, '  ')
    : told;
}

describe.each([
  ['text', false],
  ['--json', true],
])('with output as %s', (_, json) => {
  test.each(steps)('%s gives the same over the network as on the host', async (line) => {
    const here = await type(local, line, json);
    const there = await type(remote, line, json);
    const seen = ({ exit, out, err }: typeof here) => ({
      exit,
      out: withoutActor(out),
      err: withoutActor(err),
    });
    expect(seen(there)).toEqual(seen(here));
    expect([0, 1, 2, 3, 8]).toContain(here.exit);
  });
});

test('a member can leave over the network, and the operator on the host cannot', async () => {
  const line = 'member leave --org acme --yes';
  expect(await type(local, line, false)).toMatchObject({ exit: 2 });
  const mia = { ...remote, env: { ...remote.env, IDCTL_TOKEN: member } };
  const dry = await type(mia, 'member leave --org acme --dry-run', true);
  expect(JSON.parse(dry.out)).toMatchObject({ email: 'mia@acme.test', signedOut: true });
  expect(await type(mia, line, false)).toMatchObject({ exit: 0, err: 'You left acme.\n' });
  expect(await type(mia, line, false)).toMatchObject({ exit: 1 });
});

test.each(['sso', 'ldap'])(
  'I8 %s approve asks first, and over the network needs a recent sign-in',
  async (kind) => {
    const line = `${kind} approve --org acme`;
    expect(await type(local, line, false)).toMatchObject({ exit: 2, out: '' });
    const done = await type(local, `${line} --yes`, true);
    expect(JSON.parse(done.out)).toMatchObject({ approved: true });
    // This session has not passed the second factor that olga has set up since.
    const older = { ...remote, env: { ...remote.env, IDCTL_TOKEN: earlier } };
    const there = await type(older, `${line} --yes`, false);
    expect(there).toMatchObject({ exit: 1, out: '' });
    expect(there.err).toContain('Confirm that it is you first.');
  },
);

test('event tail shows the events of one organization as they happen', async () => {
  const child = spawn(process.execPath, [program, 'event', 'tail', '--org', 'acme', '--json'], {
    env: { PATH: process.env['PATH'], ...remote.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => {
      said += part;
    });
  const closed = once(child, 'close');
  await expect.poll(() => said).toContain('Waiting for events.');
  await type(remote, 'project create Tailed --org acme', false);
  await expect.poll(() => said).toContain('"kind":"project.created"');
  child.kill('SIGINT');
  expect((await closed)[0]).toBe(0);
  expect(said.match(/project\.created/g)).toHaveLength(1);
});

test('every command that works over the network is compared', async () => {
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  const nameOf = (command: Command): string =>
    command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
  const remotely = leaves(await createProgram()).filter((one) => reachOf(one) === 'both');
  const names = remotely.map(nameOf).filter((name) => !elsewhere.includes(name));
  expect(names.filter((name) => !steps.some((step) => step.startsWith(`${name} `)))).toEqual([
    'org list',
  ]);
});
