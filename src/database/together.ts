import { dialectOfDatabase, select } from './select.ts';

/**
 * Runs statements that have nothing to do with each other, all with these `$1` parameters; on PostgreSQL in one round
 * trip, in no order, each seeing what was there before them. The first says what it returns, which is answered.
 */
export async function selectTogether<Row extends object>(
  [first, ...others]: [string, ...string[]],
  bind: unknown[],
): Promise<Row[]> {
  if (dialectOfDatabase() === 'postgres') {
    const parts = others.map((sql, at) => `other_${at} AS (${sql})`);
    return select<Row>(`WITH ${[`first AS (${first})`, ...parts].join(', ')} SELECT * FROM first`, bind);
  }
  const rows = await alone<Row>(first, bind);
  for (const sql of others) await alone(sql, bind);
  return rows;
}

/** With the parameters that it names alone: SQLite takes no others. */
function alone<Row extends object>(sql: string, bind: unknown[]): Promise<Row[]> {
  const own: unknown[] = [];
  // Of a statement that starts with "INSERT INTO", Sequelize would take no rows.
  const known = sql.replace(/^INSERT INTO/, 'INSERT\nINTO');
  const renumbered = known.replace(/\$(\d+)/g, (_, place) => `$${own.push(bind[Number(place) - 1])}`);
  return select<Row>(renumbered, own);
}
