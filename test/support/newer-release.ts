import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const checkout = resolve(import.meta.dirname, '../..');

/**
 * Writes the program of a newer release below `folder`, and returns the words that start it. It has
 * one more migration, which changes nothing.
 */
export function writeNewerRelease(folder: string): readonly string[] {
  const newer = join(folder, 'newer');
  for (const name of ['src', 'package.json'])
    cpSync(join(checkout, name), join(newer, name), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(newer, 'node_modules'));
  const list = join(newer, 'src/database/migrations/index.ts');
  const known = readFileSync(list, 'utf8');
  writeFileSync(list, known.replace(/\];\s*$/, "  { name: '9999-next', async up() {} },\n];\n"));
  return [process.execPath, join(newer, 'src/main.ts')];
}
