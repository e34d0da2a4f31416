import { dialectOfDatabase, select } from '../../../database/select.ts';

// A SCIM push reads mappings and writes members. A change of mappings reads members. Neither sees
// the other's uncommitted rows, so without these locks both could miss a person. SQLite has a
// single writer.

/** Waits for pushes to the organization, and excludes new ones until the transaction ends. */
export async function holdMappings(organizationId: string): Promise<void> {
  await lock('pg_advisory_xact_lock', organizationId);
}

/** Waits for changes of mappings, and excludes new ones. Pushes do not exclude each other. */
export async function shareMappings(organizationId: string): Promise<void> {
  await lock('pg_advisory_xact_lock_shared', organizationId);
}

async function lock(how: string, organizationId: string): Promise<void> {
  if (dialectOfDatabase() === 'sqlite') return;
  await select(`SELECT ${how}(hashtextextended('group mappings ' || $1, 0))`, [organizationId]);
}
