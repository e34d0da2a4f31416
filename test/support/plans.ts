import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { vi } from 'vitest';
import { execute, select, servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { dialect } from './database.ts';

interface Statement {
  sql: string;
  bind: unknown[];
}

/** Collects the statements that the drivers get from now on, each text once. */
export function watchStatements(): { take(): Statement[] } {
  const seen = new Map<string, Statement>();
  const note = (sql: unknown, bind: unknown) => {
    if (typeof sql === 'string') seen.set(sql, { sql, bind: Array.isArray(bind) ? bind : [] });
  };
  if (dialect === 'sqlite') {
    const prepare = DatabaseSync.prototype.prepare;
    vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
      this: DatabaseSync,
      ...given
    ) {
      note(given[0], []);
      return prepare.apply(this, given);
    });
  } else {
    const query = pg.Client.prototype.query;
    const watched = function (this: pg.Client, ...given: unknown[]): unknown {
      const [first, values] = given;
      if (typeof first === 'object' && first !== null && 'text' in first)
        note(first.text, 'values' in first ? first.values : []);
      else note(first, values);
      return Reflect.apply(query, this, given);
    };
    Reflect.set(pg.Client.prototype, 'query', watched);
  }
  return {
    take: () =>
      [...seen.values()].filter(
        ({ sql }) =>
          /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT\s+INTO counters)\b/i.test(sql) &&
          !sql.includes(numbers),
      ),
  };
}

// Marks the statements that fill the tables.
const numbers = 'WITH RECURSIVE s(n)';
const filled = new Set<string>();
// A smaller table may be scanned in full.
const large = 1000;
const step = 20_000;

/**
 * Copies the only row of a table `times` times. Columns in `changed` get values that depend on `n`.
 */
export async function multiply(
  table: string,
  times: number,
  changed: Record<string, string>,
): Promise<void> {
  if (times >= large) filled.add(table);
  const model = Object.values(servedDatabase().models).find(
    (each) => each.getTableName() === table,
  );
  if (model === undefined) throw new Error(`there is no table ${table}`);
  const columns = Object.values(model.getAttributes()).map(({ field }) => String(field));
  const values = columns.map((column) => changed[column] ?? `o.${column}`);
  // In steps, so that each statement is short on a busy machine too.
  for (let from = 1; from <= times; from += step) {
    const last = Math.min(times, from + step - 1);
    await transaction(() =>
      execute(
        `INSERT INTO ${table} (${columns.join(', ')})
         ${numbers} AS (SELECT ${from} UNION ALL SELECT n + 1 FROM s WHERE n < ${last})
         SELECT ${values.join(', ')} FROM s CROSS JOIN (SELECT * FROM ${table} LIMIT 1) o`,
        [],
      ),
    );
  }
}

/** SQL for the id of the nth row of a kind; `since` is its time, in hexadecimal digits. */
export function nthId(kind: string, since = '00000000-0000', nth = 'n'): string {
  const text = `'${since}-7000-${kind}-' || (100000000000 + ${nth})`;
  return dialect === 'postgres' ? `CAST(${text} AS uuid)` : text;
}

/** SQL for the instant of the nth row. */
export function nthInstant(): string {
  const text = `'2026-01-01 00:00:00.' || substr(CAST(100000 + n AS text), 2) || ' +00:00'`;
  return dialect === 'postgres' ? `CAST(${text} AS timestamptz)` : text;
}

/**
 * The steps of a plan that scan a filled table in full, or sort more than `most` rows. SQLite does
 * not count rows, so there any sort is listed.
 */
export async function slowSteps({ sql, bind }: Statement, most: number): Promise<string[]> {
  if (dialect === 'postgres') {
    const [row] = await select<{ 'QUERY PLAN': [{ Plan: Step }] }>(
      `EXPLAIN (FORMAT JSON) ${sql}`,
      bind,
      { columns: { 'QUERY PLAN': 'json' } },
    );
    if (row === undefined) return [];
    const [{ Plan: whole }] = row['QUERY PLAN'];
    return slowBelow(whole, whole['Total Cost'], most);
  }
  const rows = await select<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, []);
  return rows
    .map(({ detail }) => detail)
    .filter((detail) => {
      const [, scanned] = /^SCAN (\w+)/.exec(detail) ?? [];
      return scanned === undefined
        ? /USE TEMP B-TREE/.test(detail) && [...filled].some((table) => sql.includes(table))
        : isFilled(scanned, sql);
    });
}

/** Whether a name in a plan is a filled table, or an alias for one in the statement. */
function isFilled(name: string, sql: string): boolean {
  return [...filled].some(
    (table) =>
      table === name || new RegExp(`\\b${table}["\`]?\\s+(AS\\s+)?["\`]?${name}\\b`, 'i').test(sql),
  );
}

interface Step {
  'Node Type': string;
  'Plan Rows': number;
  'Total Cost': number;
  'Relation Name'?: string;
  Plans?: Step[];
}

function slowBelow(step: Step, cost: number, most: number): string[] {
  const below = (step.Plans ?? []).flatMap((each) => slowBelow(each, cost, most));
  const large =
    (step['Node Type'] === 'Seq Scan' && filled.has(String(step['Relation Name']))) ||
    (step['Node Type'] === 'Sort' && step['Plan Rows'] > most);
  // A LIMIT stops some of these steps early, so the whole plan costs less than the step alone.
  const slow = large && cost > step['Total Cost'] / 2;
  const own = `${step['Node Type']} ${step['Relation Name'] ?? ''} ${step['Plan Rows']}`;
  return slow ? [own, ...below] : below;
}
