import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { eventText, exportEvents, headOf } from '../../src/services/foundation/events/export.ts';
import { eventAbout, recordEvent } from '../../src/services/foundation/events/record.ts';
import { changeMemberRole } from '../../src/services/tenancy/memberships/operations.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { team } from '../support/team.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

type Team = Awaited<ReturnType<typeof team>>;

/** Records projects with these names, one event for each. */
const projects = ({ org }: Team, names: string[]) =>
  transaction(async () => {
    for (const name of names) {
      const about = eventAbout('project', { id: name, name }, org.id);
      await recordEvent(idctl.operator(), { kind: 'project.created', ...about });
    }
  });

const pathOf = ({ org }: Team, query: string) => `/api/v1/orgs/${org.slug}/events?${query}`;

test('spec §6 a file has every event of the filter once, oldest first, in both formats', async () => {
  const here = await team(idctl);
  const { org, people, clients } = here;
  const names = Array.from({ length: 450 }, (_, at) => `p${at}`);
  await projects(here, names);
  const lines = await clients.admin.get(pathOf(here, 'format=jsonl&kind=project.*'));
  const events = String(lines.body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ subject }) => subject.name)).toEqual(names);
  const page = await clients.admin.get(pathOf(here, 'kind=project.*&limit=1'));
  expect(events[0]).toEqual(page.body.items[0]);
  expect(lines.headers).toMatchObject({
    'content-type': expect.stringMatching(/^application\/jsonl\b/),
    'content-disposition': `attachment; filename="${org.slug}-events.jsonl"`,
  });
  const file = await clients.admin.get(pathOf(here, 'format=csv'));
  expect(file.headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, ...rows] = parse(String(file.body)) as string[][];
  expect(head).toEqual(['at', 'kind', 'actor', 'actorId', 'subject', 'subjectId', 'data']);
  expect(rows).toHaveLength(names.length + 4);
  expect(rows[0]?.slice(1)).toEqual([
    ...['organization.created', 'operator', '', org.name, org.id, '{}'],
  ]);
  const [, kind, actor, , subject, id, data = ''] = rows[1] ?? [];
  expect([kind, actor, subject, id]).toEqual([
    ...['member.added', 'operator', 'Ada Byron', people.owner.id],
  ]);
  expect(JSON.parse(data)).toEqual({ role: 'owner', origin: 'operator' });
});

test('the filters limit a file as they limit the list, and a file has no pages', async () => {
  const here = await team(idctl);
  const { people, clients } = here;
  await projects(here, ['one', 'two']);
  const count = async (query: string) => {
    const { body } = await clients.admin.get(pathOf(here, `format=jsonl&${query}`));
    return String(body).split('\n').length - 1;
  };
  expect(await count('')).toBe(6);
  expect(await count(`person=${people.admin.email}`)).toBe(1);
  expect(await count('kind=project.created&from=1d')).toBe(2);
  expect(await count('since=1d')).toBe(6);
  expect(await count('to=1d')).toBe(0);
  const empty = await clients.admin.get(pathOf(here, 'format=csv&to=1d'));
  expect(empty.body).toBe('at,kind,actor,actorId,subject,subjectId,data\n');
  for (const wrong of ['format=xls', 'format=csv&limit=5', 'format=csv&kind=nothing']) {
    const refused = await clients.admin.get(pathOf(here, wrong));
    expect([wrong, refused.status]).toEqual([wrong, 400]);
  }
});

describe('security O7: a file of events', () => {
  test('O7 is for the admins and owners of the organization', async () => {
    const here = await team(idctl);
    const { admin, owner, member, stranger } = here.clients;
    const path = pathOf(here, 'format=csv');
    const answers = await Promise.all([
      ...[admin, owner, member, stranger, idctl.client()].map((client) => client.get(path)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 404, 401]);
    const other = await team(idctl);
    const foreign = await other.clients.owner.get(pathOf(other, 'format=jsonl'));
    expect(String(foreign.body)).not.toContain(here.org.id);
  });
});

test('P2 a file ends when its reader loses the right meanwhile', async () => {
  const here = await team(idctl);
  await projects(here, [...Array(300).keys()].map(String));
  const { org, people } = here;
  const accountId = people.admin.id;
  const admin = idctl.as({ kind: 'user', accountId, name: 'Ben', via: 'session', sessionId: 's' });
  const given = { org: org.id, format: 'jsonl' as const };
  const { parts } = await exportEvents(admin, exportEvents.input.parse(given));
  const reading = parts[Symbol.asyncIterator]();
  await reading.next();
  expect((await reading.next()).value).toContain('project.created');
  await changeMemberRole(idctl.operator(), { org: org.id, user: accountId, role: 'member' });
  await expect(reading.next()).rejects.toMatchObject({ code: 'forbidden' });
});

describe('security X9: CSV of events', () => {
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n=1', '＝1', "'=1"])(
    'X9 no cell begins with a formula: %j',
    async (name) => {
      const event = {
        ...{ id: 'e', kind: name, at: name, data: {} },
        actor: { kind: 'user', id: name, name },
        subject: { type: 'user', id: name, name },
      };
      const [, cells = []] = parse((await headOf('csv')) + (await eventText([event], 'csv')));
      expect(cells).toEqual([...Array(6).fill(`'${name}`), '{}']);
    },
  );
});
