import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createAuthority } from '../support/certificates.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { pages, textOf } from '../support/docs.ts';
import { providerMetadata } from '../support/saml.ts';
import { samlProvider } from '../support/saml-provider.ts';
import { typedLines, wordsOf } from '../support/typed-lines.ts';
import { typeLine } from '../support/typing.ts';

// Runs the commands of the guides in docs/applications/ and docs/providers/ on one instance. Commands
// that ask the provider are left out: no provider is here.

const guidesIn = (folder: string) =>
  pages.filter((page) => page.startsWith(`docs/${folder}/`) && !page.endsWith('README.md'));
const applications = guidesIn('applications');
const before = process.cwd();
let folder: string;
let env: Record<string, string>;

async function type(words: string[]): Promise<string> {
  const { exit, out, err } = await typeLine(words, env);
  expect([exit, exit === 0 ? '' : err]).toEqual([0, '']);
  return out;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idctl-guides-'));
  process.chdir(folder);
  for (const name of ['bind-password.txt', 'secret.txt'])
    await writeFile(join(folder, name), `${name}\n`);
  await copyFile((await createAuthority(folder)).caFile, join(folder, 'ca.pem'));
  const { key } = await samlProvider();
  await writeFile(join(folder, 'metadata.xml'), providerMetadata(key.certificate));
  env = { HOME: folder, IDCTL_CONFIG: join(folder, 'idctl.yaml') };
  env['IDCTL_DATABASE'] = await freshDatabaseUrl();
  await type(['init', '--yes', '--org', 'Acme', '--owner', 'ada@acme.com']);
  await type(['org', 'create', 'Example']);
  for (const [domain, org] of [
    ['acme.com', 'acme'],
    ['example.com', 'example'],
  ] as const) {
    await type(['domain', 'add', domain, '--org', org]);
    await type(['domain', 'verify', domain, '--org', org, '--assert', '--yes']);
  }
}, 60_000);
afterAll(async () => {
  process.chdir(before);
  await rm(folder, { recursive: true, force: true });
});

const clients = z.array(
  z.object({
    name: z.string(),
    forwardAuthOrigins: z.array(z.string()),
  }),
);

test('there are at least twenty guides', () => {
  expect(applications.length + guidesIn('providers').length).toBeGreaterThanOrEqual(20);
});

test.each(applications)(
  '%s creates a client, and names its addresses at the application',
  async (page) => {
    const text = textOf(page);
    const lines = typedLines(text);
    expect(lines[0]).toMatch(/^idctl client create /);
    for (const line of lines) await type(wordsOf(line).slice(1));
    const [client] = clients.parse(
      JSON.parse(await type(['client', 'list', '--org', 'acme', '--json'])),
    );
    expect(client).toBeDefined();
    const [, settings = ''] = text.split(/^## At (?!idctl$)/m);
    expect(settings).toContain(
      client?.forwardAuthOrigins.length ? 'X-Idctl-User' : 'id.example.com',
    );
    expect(text).toMatch(/^(Tried here with|Not tried here)/m);
    await type(['client', 'remove', client?.name ?? '', '--org', 'acme', '--yes']);
  },
);

test.each(guidesIn('providers'))('%s saves a connection', async (page) => {
  const lines = typedLines(textOf(page)).map((line) => wordsOf(line).slice(1));
  expect(lines.map(([noun, verb]) => `${noun} ${verb}`)).toEqual(
    ['set', 'test', 'enable'].map((verb) => `${lines[0]?.[0]} ${verb}`),
  );
  const [words = []] = lines;
  const isSaml = words.includes('--saml-metadata');
  const secret = words[0] === 'sso' && !isSaml ? ['--secret-file', 'secret.txt'] : [];
  await type([...words, ...secret]);
  // The next page may have the other protocol, of which the command would ask.
  if (words[0] === 'sso') await type(['sso', 'remove', '--org', words[3] ?? '', '--yes']);
});
