import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { execute, select } from '../../src/database/select.ts';
import { transaction, unsynced } from '../../src/database/transaction.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import {
  planLater,
  planMembersLater,
  planWaiting,
} from '../../src/services/provisioning/mappings/replan.ts';
import { listScimGroupMembers } from '../../src/services/provisioning/scim/groups/admin.ts';
import { holdGroup } from '../../src/services/provisioning/scim/groups/group.sql.ts';
import { deleteGroup } from '../../src/services/provisioning/scim/groups/write.ts';
import { listProjectMembers } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { dialect } from '../support/database.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';
import { turnsDuring } from '../support/turns.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

const plan = (more = {}) =>
  planWaiting(idctl.operator(), { anew: () => idctl.operator(), ...more });

/** Pushes a group of `count` people. A mapping gives the group a role in a project. */
async function pushed(count = 1) {
  const client = await scimClient(idctl);
  const org = client.org.slug;
  await createProject(idctl.operator(), { org, name: 'Web', slug: 'web' });
  await addMapping(idctl.operator(), { org, group: 'dev', project: 'web', role: 'member' });
  const members: { value: string }[] = [];
  for (let at = 0; at < count; at += 1)
    members.push({ value: (await client.create({ userName: `p${at}@${org}.test` })).id });
  const { body } = await client.send('POST', '/Groups', { displayName: 'dev', members });
  const people = async () => {
    const { items } = await listProjectMembers(idctl.operator(), {
      org,
      project: 'web',
      limit: 200,
    });
    return items.length;
  };
  const rows = await select<{ id: string }>(
    'SELECT account_id AS id FROM scim_records WHERE organization_id = $1',
    [client.org.id],
  );
  const accounts = rows.map(({ id }) => id);
  return { client, organizationId: client.org.id, groupId: body.id, people, accounts, members };
}

/** Whether a transaction waits for a lock. */
async function isAwaited(): Promise<boolean> {
  const waiting = await select(
    `SELECT 1 FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    [],
  );
  return waiting.length > 0;
}

test.runIf(dialect === 'postgres')(
  'I7 the job plans the people of a push after its commit, even if they were on the list before',
  async () => {
    const { organizationId, groupId, people, accounts } = await pushed(51);
    await plan();
    expect(await people()).toBe(51);
    // An earlier push has put the same people on the list.
    await transaction(() => planLater(organizationId, accounts));
    const made = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const push = transaction(async () => {
      await deleteGroup(idctl.operator(), await holdGroup(organizationId, groupId));
      made.resolve();
      await ended.promise;
    });
    await made.promise;
    let isPlanned = false;
    const planning = plan().then(() => {
      isPlanned = true;
    });
    await vi.waitFor(async () => {
      expect(isPlanned || (await isAwaited())).toBe(true);
    }, 20_000);
    ended.resolve();
    await Promise.all([push, planning]);
    await plan();
    expect(await people()).toBe(0);
  },
);

test('the members of a group are put on the planning list in parts, and other work runs in between', async () => {
  const { client, organizationId, groupId, accounts, members } = await pushed(301);
  await transaction(() => execute('DELETE FROM scim_replans', []));
  const few = await client.send('POST', '/Groups', {
    displayName: 'few',
    members: members.slice(0, 1),
  });
  const turnsFor = (id: string) =>
    turnsDuring(unsynced(() => planMembersLater(organizationId, [id])));
  // On SQLite, each statement takes a turn of the event loop. A wait for the disk takes many.
  const [little, much] = [await turnsFor(few.body.id), await turnsFor(groupId)];
  if (dialect === 'sqlite') expect(much - little).toBeGreaterThanOrEqual(6);
  const listed = await select<{ id: string }>('SELECT account_id AS id FROM scim_replans', []);
  // The owner has a record, but is not in the group.
  expect(listed).toHaveLength(accounts.length - 1);
  await plan();
}, 180_000);

test('an error in one organization does not delay the plans of another', async () => {
  const [one, other] = [await pushed(), await pushed()];
  const isInOrder = one.organizationId < other.organizationId;
  const [first, second] = isInOrder ? [one, other] : [other, one];
  for (const { organizationId, accounts } of [first, second])
    await transaction(() => planLater(organizationId, accounts));
  let fails = true;
  const anew = () => {
    if (!fails) return idctl.operator();
    fails = false;
    throw new Error('the first organization cannot be planned');
  };
  const failed: unknown = await plan({ anew }).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    errors: [
      {
        message: expect.stringContaining(first.organizationId),
        cause: { message: 'the first organization cannot be planned' },
      },
    ],
  });
  const planned = async () => {
    const told = [];
    for (const { client } of [first, second])
      told.push((await client.events('scim.groups.planned')).map(({ data }) => data));
    return told;
  };
  expect(await planned()).toEqual([[], [{ people: 2, changed: 0 }]]);
  await plan();
  expect(await planned()).toEqual([[{ people: 2, changed: 0 }], [{ people: 2, changed: 0 }]]);
});

test.runIf(dialect === 'postgres')(
  'a push of many people and the deletion of one of them do not deadlock',
  async () => {
    const { client, groupId, accounts, members } = await pushed(51);
    const push = (some: object[]) =>
      client.send('PUT', `/Groups/${groupId}`, { displayName: 'dev', members: some });
    await push([]);
    await plan();
    const held = Promise.withResolvers<void>();
    const waited = Promise.withResolvers<void>();
    // A deletion locks the account first, then its records.
    const deletion = transaction(async () => {
      await select('SELECT id FROM accounts WHERE id = $1 FOR UPDATE', [accounts.at(-1)]);
      held.resolve();
      await waited.promise;
      await select('SELECT id FROM scim_records WHERE account_id = $1 FOR UPDATE', [
        accounts.at(-1),
      ]);
    });
    await held.promise;
    const pushing = push(members);
    await vi.waitFor(async () => expect(await isAwaited()).toBe(true), 20_000);
    waited.resolve();
    await deletion;
    expect((await pushing).status).toBe(200);
  },
);

test.runIf(dialect === 'postgres')(
  'a push that removes roles and the deletion of their project do not deadlock',
  async () => {
    const { client, groupId, organizationId } = await pushed(2);
    const held = Promise.withResolvers<void>();
    const waited = Promise.withResolvers<void>();
    // A deletion locks the project first, then its memberships; here, the last membership first.
    const deletion = transaction(async () => {
      const [project] = await select<{ id: string }>(
        'SELECT id FROM projects WHERE organization_id = $1 FOR UPDATE',
        [organizationId],
      );
      const rows = await select<{ id: string }>(
        'SELECT account_id AS id FROM project_memberships WHERE project_id = $1 ORDER BY account_id',
        [project?.id],
      );
      const drop = (id: string | undefined) =>
        execute('DELETE FROM project_memberships WHERE account_id = $1', [id]);
      await drop(rows[1]?.id);
      held.resolve();
      await waited.promise;
      await drop(rows[0]?.id);
    });
    await held.promise;
    const pushing = client.send('DELETE', `/Groups/${groupId}`);
    await vi.waitFor(async () => expect(await isAwaited()).toBe(true), 20_000);
    waited.resolve();
    await deletion;
    expect((await pushing).status).toBe(204);
  },
);

test('a new mapping names the SCIM group that it matches, and members are listed by the group’s name', async () => {
  const client = await scimClient(idctl);
  const org = client.org.slug;
  const { id } = await client.create({ userName: `p@${org}.test` });
  const members = [{ value: id }];
  await client.send('POST', '/Groups', { displayName: 'Developers', externalId: 'x-1', members });
  const add = (group: string) => addMapping(idctl.operator(), { org, group, orgRole: 'member' });
  expect((await add('developers')).scimGroup).toBe('Developers');
  expect((await add('Developers')).scimGroup).toBe('Developers');
  expect((await add('x-1')).scimGroup).toBe('x-1');
  expect((await add('nowhere')).scimGroup).toBeNull();
  const list = (named: string) =>
    listScimGroupMembers(idctl.operator(), { org, members: named, limit: 50 });
  expect((await list('Developers')).items).toHaveLength(1);
  expect((await list('developers')).items).toHaveLength(1);
  await expect(list('nowhere')).rejects.toMatchObject({ code: 'not_found' });
});

test('I7 a group of the same name in another organization does not give a role', async () => {
  const [here, there] = [await scimClient(idctl), await scimClient(idctl)];
  const org = here.org.slug;
  await createProject(idctl.operator(), { org, name: 'Web', slug: 'web' });
  await addMapping(idctl.operator(), { org, group: 'dev', project: 'web', role: 'member' });
  await addMapping(idctl.operator(), { org, group: 'staff', project: 'web', role: 'viewer' });
  for (const [client, displayName] of [
    [there, 'dev'],
    [here, 'staff'],
  ] as const) {
    const { id } = await client.create({ userName: `shared@${org}.test` });
    await client.send('POST', '/Groups', { displayName, members: [{ value: id }] });
  }
  await plan();
  const { items } = await listProjectMembers(idctl.operator(), { org, project: 'web', limit: 10 });
  expect(items.map(({ role }) => role)).toEqual(['viewer']);
});
