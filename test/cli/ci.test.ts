import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon, surroundings, typedProgram } from '../support/daemon.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { freePorts } from '../support/ports.ts';

// Runs every command of docs/ci.md, in the order of the page, against a daemon.

const run = promisify(execFile);
let folder: string;
let daemon: Daemon;
let host: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-ci-'));
  await mkdir(join(folder, 'bin'));
  const program = `#!/bin/sh\nexec ${typedProgram} "$@"\n`;
  await writeFile(join(folder, 'bin/idctl'), program, { mode: 0o755 });
  const [port = 0] = await freePorts(1);
  const database = await freshDatabaseUrl();
  host = { IDCTL_CONFIG: join(folder, 'idctl.yaml'), IDCTL_DATABASE: database };
  const owner = '--org Acme --owner ada@example.com';
  await play(`idctl init --yes --base-url http://127.0.0.1:${port} ${owner}`, host);
  await play('idctl domain add example.com && idctl domain verify example.com --assert', host);
  await play('idctl project create Intranet --org acme', host);
  await writeFile(join(folder, 'mappings.csv'), 'group,project,role\nStaff,intranet,viewer\n');
  const lines = ['idctl: 1', 'organization: {slug: acme, name: Acme}', 'projects:'];
  const projects = ['  - {slug: intranet, name: Intranet}', '  - {slug: paper, name: Paper}', ''];
  await writeFile(join(folder, 'acme.yaml'), [...lines, ...projects].join('\n'));
  daemon = await startDaemon({ database, keyFile: join(folder, 'master.key'), port });
}, 120_000);

afterAll(async () => {
  await daemon?.stop();
  await rm(folder, { recursive: true, force: true });
});

function play(block: string, more: Record<string, string>) {
  const { PATH, ...env } = surroundings();
  const place = { HOME: folder, PATH: `${join(folder, 'bin')}:${PATH}` };
  return run('sh', ['-euc', block], { cwd: folder, env: { ...env, ...place, ...more } });
}

test('every command in docs/ci.md runs, in the order of the page', {
  timeout: 120_000,
}, async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../docs/ci.md'), 'utf8');
  const blocks = [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent, text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  expect(blocks.length).toBeGreaterThan(6);
  const shown: string[] = [];
  for (const block of blocks) {
    const here = block.replaceAll('https://id.example.com', daemon.url);
    if (here.includes('pat create')) await play(here, host);
    else if (here.startsWith('# .ci/')) {
      const token = (await readFile(join(folder, 'token'), 'utf8')).trim();
      const variables = { IDCTL_SERVER: daemon.url, IDCTL_TOKEN: token, IDCTL_ORG: 'acme' };
      shown.push((await play(here, variables)).stdout);
    } else shown.push((await play(here, {})).stdout);
  }
  const all = shown.join('');
  expect(all).toContain('ada@example.com');
  expect(all).toContain('The domain is verified.');
  expect(all).toContain('+ projects paper');
  expect(all).toContain('The organization is as the file says.');
  expect(JSON.parse(await readFile(join(folder, 'members.json'), 'utf8'))).toHaveLength(1);
});
