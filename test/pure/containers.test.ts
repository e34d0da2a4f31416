import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { givenByEnvironment } from '../../src/config/environment.ts';
import type { Refusal } from '../../src/errors.ts';

const checkout = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(checkout, path), 'utf8');
const { version } = JSON.parse(read('package.json'));
const examples = ['config/compose.yaml', 'config/kubernetes.yaml'];

test.each([...examples, 'docs/install.md'])('%s names the version of this release', (path) => {
  const named = [...read(path).matchAll(/idctl[:_-](\d+\.\d+\.\d+)/g)].map(([, found]) => found);
  // The page also shows an upgrade, to 0.2.0.
  expect(new Set(named.filter((found) => found !== '0.2.0'))).toEqual(new Set([version]));
});

test.each(examples)('idctl knows every variable of %s', async (path) => {
  const found = variablesIn(parse(read(path), { merge: true }));
  expect(Object.keys(found)).toContain('IDCTL_OWNER_PASSWORD_FILE');
  // The secret files of the examples do not exist here, so another file stands for them.
  const file = join(checkout, 'package.json');
  const env = Object.entries(found).map(([name, value]) =>
    name.endsWith('_FILE') ? [name, file] : [name, value],
  );
  const errors: Refusal[] = [];
  const given = await givenByEnvironment(Object.fromEntries(env), checkout, errors);
  expect(errors).toEqual([]);
  expect([...given.keys()]).toEqual(
    expect.arrayContaining(['baseUrl', 'database.url', 'http.trustedProxies']),
  );
});

/** The variables of idctl anywhere in a document: `NAME: value`, or `name: NAME` with `value`. */
function variablesIn(value: unknown): Record<string, string> {
  if (Array.isArray(value)) return Object.assign({}, ...value.map(variablesIn));
  if (typeof value !== 'object' || value === null) return {};
  const fields = Object.entries(value);
  const { name, value: given } = Object.fromEntries(fields);
  const own = fields.filter(([key]) => key.startsWith('IDCTL_'));
  const named = String(name).startsWith('IDCTL_') ? [[name, given]] : [];
  return Object.assign(
    Object.fromEntries([...own, ...named]),
    ...fields.map(([, each]) => variablesIn(each)),
  );
}
