import { z } from 'zod';
import {
  type EventName,
  eventKinds,
  eventNames,
  personal,
} from '../../src/services/foundation/events/kinds.ts';

/** The page of the kinds of events, with the data of each. */
export function eventsPage(): string {
  return introduction + tables();
}

const introduction = `# Kinds of events

Use this page to look up what an event means, who sees it, and which data it has. [Events](../events.md) shows how to list and
filter events, and what all of them have in common.

A \`?\` marks a field that may be missing. A field that is *personal* becomes \`deleted\` 30 days after the person has deleted
their account. *Either* means that an organization sees the event if it concerns one; otherwise only the operator sees it.
`;

const titles: Record<string, string> = {
  sso: 'Single sign-on',
  ldap: 'LDAP',
  scim: 'SCIM',
  signin: 'Sign-in',
  totp: 'Second factor',
};

interface JsonSchema {
  description?: string;
  type?: string;
  format?: string;
  enum?: string[];
  const?: string;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** The type of a field, in few words. */
export function typeOf(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.const !== undefined) return `"${schema.const}"`;
  if (schema.enum) return schema.enum.map((value) => `"${value}"`).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.properties) return `{${Object.keys(schema.properties).join(', ')}}`;
  if (schema.format === 'date-time') return 'time';
  return (
    { string: 'text', integer: 'number', boolean: 'true or false' }[schema.type ?? ''] ??
    schema.type ??
    ''
  );
}

/** The parts of the data of a kind, as JSON Schema. */
export function schemaOf(name: EventName): JsonSchema {
  // The interface above has only the parts that the page uses.
  return z.toJSONSchema(eventKinds[name].data, { io: 'output' }) as JsonSchema;
}

/** Whether a field is about a person, and is erased with the account. */
export const isPersonal = ({ description, anyOf = [] }: JsonSchema): boolean =>
  description === personal.description || anyOf.some(isPersonal);

function fieldsOf(name: EventName): string {
  const { properties = {}, required = [] } = schemaOf(name);
  const fields = Object.entries(properties).map(([field, schema]) => {
    const called = `\`${field}${required.includes(field) ? '' : '?'}\``;
    return `${called} ${typeOf(schema)}${isPersonal(schema) ? ' (personal)' : ''}`;
  });
  return fields.length === 0 ? '' : fields.join(', ');
}

const where = { organization: 'organization', instance: 'operator', either: 'either' };

/** A table of kinds for each noun. */
function tables(): string {
  const groups = Map.groupBy(eventNames, (name) => name.slice(0, name.indexOf('.')));
  return [...groups]
    .map(([group, names]) => {
      const title = titles[group] ?? `${group.charAt(0).toUpperCase()}${group.slice(1)}`;
      const rows = names.map((name) => {
        const { about, scope, subject } = eventKinds[name];
        return `| \`${name}\` | ${about} | ${where[scope]} | ${subject ?? '–'} | ${fieldsOf(name)} |`;
      });
      return `\n## ${title}\n\n| kind | | seen by | subject | data |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
    })
    .join('');
}
