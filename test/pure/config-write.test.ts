import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { settings } from '../../src/config/setting-list.ts';
import { renderConfig, renderExample } from '../../src/config/write.ts';

const example = new URL('../../config/idctl.example.yaml', import.meta.url);

let file: string;

beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'idctl-write-')), 'idctl.yaml');
});

afterEach(() => rm(join(file, '..'), { recursive: true }));

async function load(text: string) {
  await writeFile(file, text);
  return loadConfig({ file, env: {}, uid: 1000 });
}

test('the example file matches the schema: every setting, its help and its default', async () => {
  // After a change of the schema, write renderExample() to config/idctl.example.yaml.
  expect(await readFile(example, 'utf8')).toBe(renderExample());
});

test('the example file gives the defaults, as it is and with every setting uncommented', async () => {
  const standing = await load('');
  expect((await load(renderExample())).config).toEqual(standing.config);
  const writtenOut = renderExample().replaceAll(/^( *)#(\w)/gm, '$1$2');
  const { config, origins } = await load(writtenOut);
  expect(config).toEqual(standing.config);
  expect(origins.get('password.argon2.memory')).toBe('file');
});

test('every setting has a line of help that fits a terminal', () => {
  for (const { key, help } of settings()) {
    expect(help, key).toMatch(/^\S.*\S$/);
    expect(help.length, key).toBeLessThanOrEqual(80);
  }
});

test('a written configuration contains the chosen settings below their help, and reads back', async () => {
  const chosen = {
    baseUrl: 'https://id.example.com',
    'database.url': 'sqlite:/var/lib/idctl/idctl.db',
    'trust.domains': 'off',
    'http.trustedProxies': ['10.0.0.0/8', '::1'],
    'password.argon2.memory': 65536,
    'instance.name': 'Ärzte: "yes", # no',
  };
  const text = renderConfig(chosen);
  const { config, origins } = await load(text);
  for (const [key, value] of Object.entries(chosen)) {
    expect(config).toHaveProperty(key, value);
    expect(origins.get(key)).toBe('file');
  }
  expect([...origins.values()].filter((origin) => origin === 'file')).toHaveLength(6);
  expect(text).toContain('# URL of idctl for browsers');
  expect(text).not.toContain('listen:');
});

test('a configuration without chosen settings is only comments', async () => {
  const text = renderConfig({});
  expect(text).toMatch(/^# .*\n$/);
  expect([...(await load(text)).origins.values()]).not.toContain('file');
});
