import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { counterpartMissing } from '../../support/counterpart.ts';
import { surroundings, typedProgram } from '../../support/daemon.ts';
import { dialect } from '../../support/database.ts';
import { helpPages } from '../../support/help.ts';
import { freePorts } from '../../support/ports.ts';
import { type Answers, inTerminal } from '../../support/pseudo-terminal.ts';
import { type SeededSite, seedSite } from '../../support/seeded-site.ts';
import { directoryPassword, service, suffix } from '../../support/slapd.ts';
import { registration } from '../../support/sso.ts';

// A shell runs every example of every help page, each on its own copy of one instance. An example
// must exit with code 0; the transcripts test the output. One kind of database is enough.

vi.setConfig({ maxConcurrency: 2 });

// Keyed by example, because the page of a noun shows the example of one of its verbs.
const examples = new Map(
  (await helpPages()).map(({ name, text }) => [
    text.slice(text.indexOf('  $ ') + 4).trimEnd(),
    name.slice('idctl '.length),
  ]),
);

let site: SeededSite;
let folder: string;
/** The address at which the example of `serve` listens. */
let address: string;

const login = () =>
  `idctl pat create --user ada@example.com --name cli --quiet >token && idctl login ${site.baseUrl} --name id.acme.com --token-file token`;

/** Examples that need a running daemon. */
const ofDaemon = ['client test', 'doctor', 'login', 'logout', 'server use', 'member leave'];

const leave = 'idctl member remove ada@example.com --org acme --yes';

/** Commands that prepare the instance, so that the example has something to do. */
const before: Record<string, () => string> = {
  'org create': () => 'idctl org delete acme --yes',
  'user create': () => 'idctl user delete ada@example.com --yes',
  'member add': () => leave,
  'invitation create': () => leave,
  'project create': () => 'idctl project delete website --org acme --yes',
  'project-member add': () =>
    'idctl project-member remove ada@example.com --org acme --project website --yes',
  'domain add': () => 'idctl domain remove acme.com --org acme --yes',
  login: () => 'idctl pat create --user ada@example.com --name cli --quiet >token',
  logout: login,
  'server use': login,
  'member leave': login,
  'totp disable': () => `idctl totp confirm --user ada@example.com --code ${codeIn(0)}`,
  'recovery-code regenerate': () => `idctl totp confirm --user ada@example.com --code ${codeIn(0)}`,
  'member reset-second-factor': () =>
    `idctl totp confirm --user ada@example.com --code ${codeIn(0)}`,
  'user totp-reset': () => `idctl totp confirm --user ada@example.com --code ${codeIn(0)}`,
  'mappings import': () => 'idctl mappings export --org acme >mappings.csv',
  'sso refresh': () => `idctl sso set --org acme --saml-metadata ${site.metadataUrl} --force --yes`,
  plan: () => 'idctl export --org acme -o acme.yaml',
  apply: () => 'idctl export --org acme -o acme.yaml',
  restore: () => 'idctl backup idctl.backup',
};

/** The answers to the questions of examples. Only these examples ask. */
const answers: Record<string, Answers> = {
  init: [
    ['Address at which browsers reach idctl', '\r'],
    ['Database', '\r'],
    ['Mail server', '\r'],
    ['Set up an instance there?', 'y\r'],
  ],
  'scim token rotate': [['Replace the SCIM token', 'y\r']],
};

type Ending = readonly [NodeJS.Signals, (said: () => string) => Promise<void>];

/** The signal that stops a command that does not end by itself, and when to send it. */
const endings: Record<string, Ending> = {
  serve: ['SIGTERM', () => untilReady(`http://${address}`)],
  'event tail': ['SIGINT', (said) => expect.poll(said).toContain('Waiting for events.')],
};

function untilReady(url: string): Promise<void> {
  return expect
    .poll(async () => (await fetch(`${url}/readyz`).catch(() => null))?.status)
    .toBe(200);
}

/** The example, with the ids and addresses of this instance. */
function filled(name: string, example: string): string {
  const { ids, provider, slapd } = site;
  const noun = name === 'webhook retry' ? 'delivery' : name.split(' ')[0];
  const id = Object.entries(ids).find(([of]) => of === noun)?.[1] ?? 'none';
  return example
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/, id)
    .replace('https://id.acme.com', ofDaemon.includes(name) ? site.baseUrl : provider.issuer)
    .replace('ldaps://ldap.acme.com', slapd.ldaps)
    .replaceAll('dc=acme,dc=com', suffix)
    .replace('domain verify acme.com', 'domain verify new.acme.com')
    .replace('127.0.0.1:8420', address)
    .replace('123456', codeIn(name === 'totp disable' ? 30 : 0));
}

/** The code of this many seconds from now. A code works once; the next code is accepted early. */
function codeIn(seconds: number): string {
  return generateSync({ secret: site.totpSecret, epoch: Math.floor(Date.now() / 1000) + seconds });
}

const passwords: Record<string, string> = {
  'ldap set': service.bindPassword,
  'ldap test': directoryPassword,
};

/**
 * Makes a folder with the files that examples read and, except for `init`, a copy of the instance.
 */
async function place(name: string): Promise<string> {
  const here = await mkdtemp(join(folder, 'at-'));
  if (name !== 'init') await cp(site.folder, here, { recursive: true });
  await writeFile(join(here, 'password'), `${passwords[name] ?? 'correct horse battery'}\n`);
  await writeFile(join(here, 'secret'), `${registration.clientSecret}\n`);
  return here;
}

function environment(here: string): Record<string, string> {
  const { PATH, ...env } = surroundings();
  const path = `${join(folder, 'bin')}:${PATH}`;
  return { ...env, PATH: path, HOME: here, TERM: 'xterm', IDCTL_CONFIG: join(here, 'idctl.yaml') };
}

function begin(line: string, here: string, shell = 'sh') {
  const child = spawn(shell, ['-euc', line], {
    cwd: here,
    env: environment(here),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      said += part;
    });
  }
  const closed = once(child, 'close');
  const ended = async () => ({ code: (await closed)[0], said });
  return { ended, said: () => said, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}

/** Runs a command, does the work once it is ready, and stops it. `exec` lets idctl get the signal. */
async function running(
  line: string,
  here: string,
  [signal, isReady]: Ending,
  work?: () => Promise<unknown>,
) {
  const { ended, said, kill } = begin(`exec ${line}`, here);
  try {
    await isReady(said);
    await work?.();
  } finally {
    kill(signal);
  }
  return ended();
}

async function typed(name: string, line: string, here: string) {
  const ending = endings[name];
  const given = answers[name];
  if (ending !== undefined) return running(line, here, ending);
  if (given !== undefined) return answered(line, here, given);
  return begin(line, here, name === 'completion' ? 'bash' : 'sh').ended();
}

async function answered(line: string, here: string, given: Answers) {
  const { code, shown } = await inTerminal(`cd '${here}'; ${line}`, environment(here), given);
  return { code, said: stripVTControlCharacters(shown) };
}

const missing =
  counterpartMissing('bash') ||
  counterpartMissing('bind9') ||
  counterpartMissing('bsdutils') ||
  counterpartMissing('slapd');

describe.skipIf(dialect !== 'sqlite' || missing)('the help examples', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-examples-'));
    await mkdir(join(folder, 'bin'));
    const program = `#!/bin/sh\nexec ${typedProgram} "$@"\n`;
    await writeFile(join(folder, 'bin/idctl'), program, { mode: 0o755 });
    const [port] = await freePorts(1);
    address = `127.0.0.1:${port}`;
    site = await seedSite();
  });
  afterAll(async () => {
    await site?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  // All daemons listen at one address, so only one runs at a time.
  let daemons: Promise<unknown> = Promise.resolve();
  const rows = [...examples].map(([example, name]) => ({ name, example }));
  test.concurrent.each(rows)('the example of idctl $name works', async ({ name, example }) => {
    const here = await place(name);
    const works = async (line: string, of = '') => {
      const { code, said } = await typed(of, line, here);
      expect(code, said).toBe(0);
    };
    const first = before[name]?.();
    const work = async () => {
      if (first !== undefined) await works(first);
      await works(filled(name, example), name);
    };
    if (!ofDaemon.includes(name)) return work();
    const ending: Ending = ['SIGTERM', () => untilReady(site.baseUrl)];
    const turn = daemons.then(() => running('idctl serve', here, ending, work));
    daemons = turn.catch(() => undefined);
    await turn;
  });
});
