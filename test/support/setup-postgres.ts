import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createPostgresDatabase, type PostgresServer, startPostgres } from './postgres.ts';
import { provideTemplates } from './template.ts';

let server: PostgresServer | undefined;

/** Starts the run's PostgreSQL server, or uses the server at IDCTL_TEST_POSTGRES_URL. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['IDCTL_TEST_POSTGRES_URL'];
  if (given === undefined) server = await startPostgres();
  const databases = given ?? server?.url ?? '';
  project.provide('databases', databases);
  project.provide('run', run);
  await provideTemplates(project, await createPostgresDatabase(databases, `idctl_${run}_template`));
}

/** Stops the run's server. On a server at IDCTL_TEST_POSTGRES_URL, drops the run's databases. */
export async function teardown(): Promise<void> {
  const given = process.env['IDCTL_TEST_POSTGRES_URL'];
  if (given === undefined) return server?.stop();
  const client = new pg.Client(given);
  await client.connect();
  const { rows } = await client.query<{ datname: string }>(
    'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
    [`idctl_${run}_`],
  );
  for (const { datname } of rows) await client.query(`DROP DATABASE "${datname}" WITH (FORCE)`);
  await client.end();
}

const run = crypto.randomUUID().slice(0, 8);
