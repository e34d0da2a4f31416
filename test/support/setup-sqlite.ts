import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { provideTemplates } from './template.ts';

let folder: string | undefined;

/** Creates the folder for the run's SQLite files, and the templates. */
export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'idctl-sqlite-'));
  project.provide('databases', `sqlite:${folder}`);
  project.provide('run', '');
  await provideTemplates(project, `sqlite:${folder}/template.db`);
}

/** Removes the folder. */
export function teardown(): void {
  if (folder) rmSync(folder, { recursive: true, force: true });
}
