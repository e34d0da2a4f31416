import { dialectOfDatabase, select } from '../../../database/select.ts';

// A push reads the mappings and writes members; a change of mappings does the opposite. Neither
// sees what the other has not committed, so a person of both would be planned by neither. SQLite
// has one writer.

/** Waits for pushes to the organization, and keeps others away until the transaction ends. */
export async function holdMappings(organizationId: string): Promise<void> {
  await lock('pg_advisory_xact_lock', organizationId);
}

/** Waits for changes of mappings, and keeps others away; pushes go on beside each other. */
export async function shareMappings(organizationId: string): Promise<void> {
  await lock('pg_advisory_xact_lock_shared', organizationId);
}

async function lock(how: string, organizationId: string): Promise<void> {
  if (dialectOfDatabase() === 'sqlite') return;
  await select(`SELECT ${how}(hashtextextended('group mappings ' || $1, 0))`, [organizationId]);
}
