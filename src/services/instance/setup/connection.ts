import type { Address } from '../../../database/connect.ts';
import { openDatabase } from '../../../database/open.ts';
import { databaseRefusal } from '../../../database/refusals.ts';

/**
 * Checks that the database answers. Refuses `database_unreachable` if not, and leaves nothing open.
 */
export async function checkConnection(address: Address): Promise<void> {
  const database = await openDatabase(address);
  try {
    await database.ping();
  } catch (error) {
    throw databaseRefusal(error) ?? error;
  } finally {
    await database.close();
  }
}
