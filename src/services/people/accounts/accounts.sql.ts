import { select } from '../../../database/select.ts';

/** The ids of up to `most` accounts, chosen at random among the newest. */
export async function sampleNewest(most: number, amongNewest: number): Promise<string[]> {
  const rows = await select<{ id: string }>(
    `SELECT id FROM (SELECT id FROM accounts ORDER BY id DESC LIMIT ${amongNewest}) a ORDER BY random() LIMIT ${most}`,
    [],
  );
  return rows.map(({ id }) => id);
}
