import { expect, test } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../src/http/pages/html.ts';
import { sentenceOf } from '../../src/http/pages/organization/event-sentence.ts';
import { eventWords } from '../../src/http/pages/organization/event-words.ts';
import {
  type EventName,
  eventKinds,
  eventNames,
} from '../../src/services/foundation/events/kinds.ts';

// Every kind of event that an organization sees has a sentence.

const someId = '0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d';
const seen = eventNames.filter((name) => eventKinds[name].scope !== 'instance');

interface JsonSchema {
  type?: string;
  format?: string;
  enum?: string[];
  const?: string;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** A value of the schema: with all fields, or with the required ones and nulls. */
function sampleOf(schema: JsonSchema, full: boolean, name = ''): unknown {
  const { type, properties, required = [], items } = schema;
  if (schema.anyOf) return sampleOf(schema.anyOf.at(full ? 0 : -1) ?? {}, full, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.at(full ? 0 : -1);
  if (type === 'array') return full ? [sampleOf(items ?? {}, full)] : [];
  if (type === 'null') return null;
  if (type === 'boolean') return full;
  if (type === 'integer') return full ? 3 : 1;
  if (schema.format === 'date-time') return '2026-11-20T12:00:00Z';
  if (properties) {
    const wanted = Object.entries(properties).filter(([key]) => full || required.includes(key));
    return Object.fromEntries(wanted.map(([key, value]) => [key, sampleOf(value, full, key)]));
  }
  return /^(account|projectId)$/.test(name) ? someId : 'website';
}

type Event = Parameters<typeof sentenceOf>[0];

const actors: Event['actor'][] = [
  { kind: 'user', id: someId, name: 'Ada Byron' },
  { kind: 'operator', name: 'operator' },
  { kind: 'scim', name: 'scim' },
  { kind: 'app', id: someId, name: 'deploys' },
  { kind: 'setupLink', id: someId, name: 'it@vendor.test' },
  { kind: 'system', name: 'upkeep' },
  { kind: 'anonymous' },
];

function eventsOf(kind: EventName) {
  // The interface above has only the parts that the test uses.
  const schema = z.toJSONSchema(eventKinds[kind].data, { io: 'output' }) as JsonSchema;
  const { subject: type } = eventKinds[kind];
  const subject = type === null ? null : { type, id: 'x', name: 'Ben' };
  return [true, false].flatMap((full) =>
    actors.map((actor) => {
      const data = sampleOf(schema, full) as Record<string, unknown>;
      return { id: someId, kind, at: '2026-11-20T12:00:00Z', actor, subject, data };
    }),
  );
}

const say = (event: Event, names = new Map<string, string>()) =>
  textOf(sentenceOf(event, names, '/activity')).replace(/<[^>]*>/g, '');

test('every kind that an organization sees has a sentence of its own', () => {
  expect(Object.keys(eventWords).toSorted()).toEqual(seen.toSorted());
  for (const kind of seen)
    for (const event of eventsOf(kind)) {
      const sentence = say(event);
      expect([kind, sentence]).toEqual([kind, expect.stringMatching(/^[A-Z0-9][^{}_<>]*\.$/)]);
      expect([kind, sentence]).toEqual([kind, expect.not.stringMatching(/undefined|null|\[| {2}/)]);
      expect([kind, sentence]).toEqual([kind, expect.not.stringContaining(kind)]);
      for (const part of sentence.split(/[.;] /))
        expect([part, part.split(' ').length <= 24]).toEqual([part, true]);
    }
});

test('a kind that only the operator sees has at least the words of its documentation', () => {
  for (const kind of eventNames)
    for (const event of eventsOf(kind))
      expect([kind, say(event)]).toEqual([kind, expect.not.stringContaining(kind)]);
});

const base = { id: someId, at: '2026-11-20T12:00:00Z', subject: null, data: {} };
const ada: Event['actor'] = { kind: 'user', id: 'a', name: 'Ada Byron' };
const ben = { type: 'user', id: 'b', name: 'Ben' };

test.each<[Partial<Event> & Pick<Event, 'kind' | 'actor'>, string]>([
  [
    {
      kind: 'member.role.changed',
      actor: ada,
      subject: ben,
      data: { from: 'member', to: 'admin' },
    },
    'Ada Byron made Ben an admin.',
  ],
  [
    {
      kind: 'session.started',
      actor: { kind: 'anonymous' },
      subject: ben,
      data: { method: 'sso', session: 's' },
    },
    'Ben signed in with single sign-on.',
  ],
  [
    { kind: 'member.removed', actor: { ...ada, id: 'b' }, subject: ben, data: { role: 'member' } },
    'Ben left the organization.',
  ],
  [
    {
      kind: 'member.removed',
      actor: { ...ada, name: 'deleted' },
      subject: { ...ben, name: 'deleted' },
      data: { role: 'member' },
    },
    'A former member removed a former member from the organization.',
  ],
  [
    {
      kind: 'client.session.started',
      actor: { kind: 'anonymous' },
      subject: { type: 'client', id: 'c', name: 'Wiki' },
      data: { account: someId, session: 's', count: 1 },
    },
    'A former member signed in to the application Wiki.',
  ],
  // An event of an older version lacks data, and one of a newer version has another kind.
  [{ kind: 'member.added', actor: ada, subject: ben }, 'An account became a member.'],
  [
    { kind: 'moon.landed', actor: ada, subject: ben },
    'Something happened that this version cannot describe (moon.landed).',
  ],
  [
    { kind: 'toString', actor: ada, subject: ben },
    'Something happened that this version cannot describe (toString).',
  ],
])('an event reads as a sentence: %j', (event, sentence) => {
  expect(say({ ...base, ...event })).toBe(sentence);
});

test('the names of people lead to their events, and are escaped', () => {
  const event: Event = {
    ...base,
    kind: 'member.removed',
    actor: { ...ada, name: '<b>' },
    subject: ben,
    data: { role: 'member' },
  };
  expect(textOf(sentenceOf(event, new Map(), '/orgs/acme/activity'))).toBe(
    '<a href="/orgs/acme/activity?person=a">&lt;b&gt;</a> removed <a href="/orgs/acme/activity?person=b">Ben</a> from the organization.',
  );
});

test('accounts and projects that are in the data by id have their names', () => {
  const because = { group: 'staff', mappingId: 'm' };
  const adds = [{ projectId: someId, role: 'admin', because }];
  const event: Event = {
    ...base,
    kind: 'sso.groups.synced',
    actor: { kind: 'anonymous' },
    subject: ben,
    data: { adds, changes: [], removes: [] },
  };
  const sentence = (names: Map<string, string>) => say(event, names);
  expect(sentence(new Map([[someId, 'website']]))).toBe(
    'Groups set the projects of Ben: an admin of website.',
  );
  expect(sentence(new Map())).toBe(
    'Groups set the projects of Ben: an admin of a deleted project.',
  );
});

test('group sync of many projects names five of them', () => {
  const adds = Array.from({ length: 8 }, () => ({
    projectId: someId,
    role: 'viewer',
    because: null,
  }));
  const data = { adds, changes: [], removes: [] };
  const event: Event = {
    ...base,
    kind: 'ldap.groups.synced',
    actor: { kind: 'anonymous' },
    subject: ben,
    data,
  };
  const names = new Map([[someId, 'web']]);
  expect(say(event, names)).toBe(
    `Groups set the projects of Ben: ${Array(5).fill('a viewer of web').join('; ')}; and 3 more.`,
  );
});
