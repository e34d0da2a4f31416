import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';

// Decision 17: the remote command line reads the routes, which are plain data.

const src = resolve(import.meta.dirname, '../../src');

/** Every file and package that this file loads when it is imported. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!existsSync(file)) return seen;
  const text = readFileSync(file, 'utf8');
  for (const [, from = ''] of text.matchAll(/^(?:import|export)(?! type)[^;]*? from '([^']+)';/gms))
    loadedBy(from.startsWith('.') ? resolve(dirname(file), from) : from, seen);
  return seen;
}

test('the remote command line loads no Express and no pages', () => {
  const loaded = [...loadedBy(resolve(src, 'cli/remote/door.ts'))];
  expect(loaded).toContain(resolve(src, 'http/routes/list.ts'));
  expect(loaded.filter((name) => /^express|^helmet|http\/(server|pages)/.test(name))).toEqual([]);
});

test('a local command does not load the remote command line', () => {
  const loaded = [...loadedBy(resolve(src, 'cli/door.ts'))];
  expect(loaded.filter((name) => name.includes('/remote/') || name === 'yaml')).toEqual([]);
});
