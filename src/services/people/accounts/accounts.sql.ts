import { execute, select } from '../../../database/select.ts';

/** The ids of up to `max` accounts, chosen at random among the newest. */
export async function sampleNewest(max: number, amongNewest: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT id FROM (SELECT id FROM accounts ORDER BY id DESC LIMIT ${amongNewest}) a ORDER BY random() LIMIT ${max}`,
    [],
  );
  return rows.map(({ id }) => id);
}

/** Gives the account a name. */
export async function renameAccount(id: string, name: string): Promise<void> {
  await execute('UPDATE accounts SET name = $2 WHERE id = $1', [id, name]);
}
