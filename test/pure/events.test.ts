import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isPersonal, schemaOf, typeOf } from '../../scripts/reference/events.ts';
import { describeSurface } from '../../src/http/openapi.ts';
import { surface } from '../../src/http/surface.ts';
import {
  type EventName,
  eventKinds,
  eventNames,
} from '../../src/services/foundation/events/kinds.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';

const root = resolve(import.meta.dirname, '../..');

/** The texts of events about a person that say nothing personal: ids, roles, reasons and the like. */
const impersonal = [
  // `domain` is one that an organization has verified.
  'domain',
  ...['account', 'app', 'holder', 'invitation', 'passkey', 'record', 'session', 'setupLink'],
  ...['from', 'issuer', 'kind', 'method', 'origin', 'project', 'role', 'scope', 'to'],
  ...['by', 'purpose', 'reason', 'why'],
];

test('each text of an event about a person is marked as personal, or is known to be none', () => {
  const isOfPerson = (name: EventName) => {
    const { subject, data } = eventKinds[name];
    return subject === 'user' || 'account' in data.shape || 'email' in data.shape;
  };
  const texts = eventNames.filter(isOfPerson).flatMap((name) =>
    Object.entries(schemaOf(name).properties ?? {}).flatMap(([field, schema]) => {
      const isText = typeOf(schema).startsWith('text') && !isPersonal(schema);
      return isText ? [field] : [];
    }),
  );
  expect([...new Set(texts)].sort()).toEqual(impersonal.toSorted());
});

test('the services write every kind of the table', () => {
  const folder = join(root, 'src/services');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('events/kinds.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  // The code builds the kinds about groups from the type of the connection.
  const written = (name: string) =>
    sources.includes(`'${name}'`) || /^(sso|ldap|scim)\.groups\./.test(name);
  expect(eventNames.filter((name) => !written(name))).toEqual([]);
});

test('the API document names every kind, in the list and for webhooks', () => {
  const about = { name: 'idctl', version: '0', baseUrl: 'http://127.0.0.1' };
  const { paths, webhooks } = describeSurface(surface.routes, about);
  for (const part of [paths['/api/v1/orgs/{org}/events'], webhooks]) {
    const told = JSON.stringify(part);
    expect(eventNames.filter((name) => !told.includes(`"kind":{"const":"${name}"}`))).toEqual([]);
  }
});

test('the API document describes the files of events, with their filters', () => {
  const about = { name: 'idctl', version: '0', baseUrl: 'http://127.0.0.1' };
  const { get } = z
    .object({
      get: z.object({
        parameters: z.array(z.object({ name: z.string(), required: z.boolean() })),
        responses: z.object({ 200: z.object({ content: z.record(z.string(), z.unknown()) }) }),
      }),
    })
    .parse(describeSurface(surface.routes, about).paths['/api/v1/orgs/{org}/events']);
  const named = get.parameters.map(({ name, required }) => (required ? `${name}!` : name));
  expect(named.toSorted()).toEqual([
    ...['cursor', 'format', 'from', 'kind', 'limit', 'org!', 'person', 'since', 'to'],
  ]);
  expect(Object.keys(get.responses[200].content)).toEqual([
    ...['application/json', 'text/csv', 'application/jsonl'],
  ]);
});

test.each([
  ['domain.verifed', 'domain.added, domain.verified, domain.removed'],
  ['domain', 'domain.added'],
  ['nothing.such', 'organization.*'],
  ['constructor', 'organization.*'],
])(
  'a list of events of the unknown kind %s is refused, and the message names known kinds',
  (kind, known) => {
    const { error } = listEvents.input.safeParse({ org: 'acme', kind });
    expect(error?.issues[0]?.message).toContain(`is not a kind of event; choose from ${known}`);
  },
);
