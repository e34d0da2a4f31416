import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { execute, select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { insertGroup } from '../../src/services/provisioning/scim/groups/write.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { populate } from './scim-people.ts';

/** An organization of members with a small, a large and a mapped group. */
export interface Grouped {
  base: string;
  token: string;
  /** The ids of the Users in the large group. */
  people: string[];
  /** The id of a User in no group. */
  newcomer: string;
  small: string;
  large: string;
  mapped: string;
  /** The number of people with the role of the mapped group. */
  planned(): Promise<number>;
  close(): Promise<void>;
}

/** Fills a new database with `count` members in the large group, and one member in no group. */
export async function fillGroups(
  database: string,
  keyFile: string,
  count: number,
): Promise<Grouped> {
  const [people] = await populate(database, keyFile, [count + 1]);
  if (people === undefined) throw new Error('there is no organization');
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const address = { ...settings.database, url: database };
  const config = { ...settings, baseUrl: 'http://127.0.0.1', keyFile, database: address };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const org = people.base.split('/').at(-1) ?? '';
  const join = `INSERT INTO memberships (organization_id, account_id, role, origin, joined_at, synced)
    SELECT organization_id, account_id, 'member', '{"kind":"scim"}', created_at, true
      FROM scim_records WHERE organization_id = $1`;
  await transaction(() => execute(join, [org]));
  await transaction(() =>
    execute('UPDATE scim_records SET active = true WHERE organization_id = $1', [org]),
  );
  await createProject(operator, { org, name: 'Web', slug: 'web' });
  const mapping = { group: 'mapped', project: 'web', role: 'member' as const };
  await addMapping(operator, { org, ...mapping });
  const rows = await select<{ id: string }>(
    'SELECT id FROM scim_records WHERE organization_id = $1 ORDER BY id',
    [org],
  );
  const [newcomer = '', ...ids] = rows.map(({ id }) => id);
  const group = async (displayName: string, some: string[]) => {
    const members = new Map(some.map((id) => [id, null] as const));
    const given = { displayName, externalId: null, members };
    return (await transaction(() => insertGroup(operator, org, given))).id;
  };
  const { base, token } = people;
  return {
    base,
    token,
    newcomer,
    people: ids,
    small: await group('small', ids.slice(0, 10)),
    large: await group('large', ids),
    mapped: await group('mapped', []),
    planned: async () => {
      const [row] = await select<{ n: number | string }>(
        'SELECT count(*) AS n FROM project_memberships',
        [],
      );
      return Number(row?.n);
    },
    close: () => app.close(),
  };
}
