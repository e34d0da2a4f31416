import type { TestProject } from 'vitest/node';
import { configSchema } from '../../src/config/schema.ts';
import { createPasswordHasher } from '../../src/crypto/password.ts';
import { openDatabase } from '../../src/database/open.ts';
import { password } from './builders.ts';

/**
 * Provides a migrated database at this URL, and password hashes, so that each test need not make
 * them.
 */
export async function provideTemplates(project: TestProject, url: string): Promise<void> {
  const database = await openDatabase({ url, sqliteDriver: 'node' });
  await database.migrate();
  await database.close();
  project.provide('migrated', url);
  const hasher = createPasswordHasher(configSchema.parse({}).password.argon2);
  const hashes: string[] = [];
  while (hashes.length < 60) hashes.push(await hasher.hash(password));
  project.provide('hashes', hashes);
}
