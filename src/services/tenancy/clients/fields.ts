import { z } from 'zod';
import { idTokenAlgs } from '../../../database/models/client.ts';
import { Refusal, refuseField } from '../../../errors.ts';
import { canonicalHost, isLoopback, isPlainHost } from '../../../text/address.ts';
import { name, projectRole, ref } from '../../foundation/fields.ts';
import { list } from '../../foundation/list.ts';
import { changing, described, spare } from '../../foundation/settings.ts';
import { webhookUrl } from '../webhooks/webhook.ts';
import { rowIdOf } from './client.ts';
import { clientWords } from './words.ts';

// The settings of a client that its organization chooses, and their rules.

const maxUris = 20;

/** A name that does not look like a client id. */
const clientName = name.refine((text) => rowIdOf(text) === null, 'must not be a client id');

/**
 * An address that idctl sends browsers to. A redirect URI is compared letter by letter, so it must
 * be spelled as browsers send it.
 */
const browserUri = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .superRefine((text, ctx) => {
    const fault = faultOfUri(text);
    if (fault !== null) ctx.addIssue({ code: 'custom', message: fault });
  });

function faultOfUri(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !isProtected(url))
    return 'must be an https:// address, or http:// on localhost';
  if (text.includes('*')) return 'must be exact, without a wildcard';
  if (!isPlainHost(url.hostname)) return 'must have a plain host name or an IP address';
  if (text.includes('#')) return 'must have no fragment (#)';
  if (url.username !== '' || url.password !== '') return 'must contain no user name';
  const isPlain = text === url.href || `${text}/` === url.href;
  return isPlain ? null : `must be spelled ${url.href}`;
}

/** Whether data sent there is encrypted, or never leaves the machine. */
function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isOwnMachine(hostname));
}

/** Browsers send names below localhost to the machine itself (RFC 6761 §6.3). */
export function isOwnMachine(hostname: string): boolean {
  return isLoopback(canonicalHost(hostname)) || hostname.endsWith('.localhost');
}

/** A web origin in the spelling that browsers send: `https://app.example.com`. */
const origin = z
  .string()
  .max(300, 'must have at most 300 characters')
  .transform((text, ctx) => {
    const url = URL.parse(text);
    const isBare = url?.href === `${url?.origin}/` && !/[*?#@\\\s]|\.(:|\/|$)/.test(text);
    const isPlain = isBare && isPlainHost(url?.hostname ?? '');
    if (url !== null && isPlain && isProtected(url)) return url.origin;
    const message = 'must be an origin such as https://app.example.com, without a path or wildcard';
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const listOf = <Entry extends z.ZodType<string>>(entry: Entry) =>
  list(entry, maxUris).refine(
    (list) => new Set(list).size === list.length,
    'must not list an entry twice',
  );

const shape = {
  name: clientName,
  homeUrl: browserUri.nullable().default(null),
  redirectUris: listOf(browserUri).default([]),
  postLogoutRedirectUris: listOf(browserUri).default([]),
  backchannelLogoutUri: webhookUrl.nullable().default(null),
  forwardAuthOrigins: listOf(origin).default([]),
  public: z.boolean().default(false),
  pkce: z.boolean().default(true),
  idTokenAlg: z.enum(idTokenAlgs, `must be one of ${idTokenAlgs.join(', ')}`).default('RS256'),
  project: ref.nullable().default(null),
  role: projectRole.nullable().default(null),
};

/** The settings of a client, each checked alone. `faultOfSettings` checks them together. */
export type ClientSettings = z.output<z.ZodObject<typeof shape>>;

/** The settings, each with its default. */
export const clientSettings = described(shape, clientWords);

/** The client settings in a change: an absent setting keeps its value. */
export const changedSettings = changing(clientSettings);

/** The lists, each with the words for one of its entries. */
const lists = {
  redirectUris: 'redirect URI',
  postLogoutRedirectUris: 'sign-out address',
  forwardAuthOrigins: 'origin for forward auth',
} as const;
type ListName = keyof typeof lists;

/** The changes of single entries, beside the lists that replace. */
export const changedEntries = {
  addRedirectUris: entriesOf('redirectUris', 'Adds'),
  removeRedirectUris: entriesOf('redirectUris', 'Removes'),
  addPostLogoutRedirectUris: entriesOf('postLogoutRedirectUris', 'Adds'),
  removePostLogoutRedirectUris: entriesOf('postLogoutRedirectUris', 'Removes'),
  addForwardAuthOrigins: entriesOf('forwardAuthOrigins', 'Adds'),
  removeForwardAuthOrigins: entriesOf('forwardAuthOrigins', 'Removes'),
};

function entriesOf(name: ListName, verb: 'Adds' | 'Removes') {
  const rest =
    verb === 'Adds' ? 'An entry that is there stays.' : 'An entry that is missing is refused.';
  return changedSettings[name].describe(`${verb} these entries, and keeps the others. ${rest}`);
}

type Entries = { [Name in keyof typeof changedEntries]?: string[] | undefined };

/** The lists that a change of single entries gives, from the lists before it. */
export function listsWith(
  before: Pick<ClientSettings, 'name' | ListName>,
  given: Entries & Partial<Record<ListName, string[] | undefined>>,
): Partial<Record<ListName, string[]>> {
  const names = Object.keys(lists) as ListName[]; // Object.keys loses the type of the names.
  return Object.fromEntries(
    names.flatMap((name) => {
      const ending = `${name.charAt(0).toUpperCase()}${name.slice(1)}` as Capitalize<ListName>;
      const [added, removed] = [given[`add${ending}`], given[`remove${ending}`]];
      if (added === undefined && removed === undefined) return [];
      if (given[name] !== undefined)
        throw refuseField(name, 'replaces the list, so no entry can be added or removed too');
      const missing = removed?.find((entry) => !before[name].includes(entry));
      if (missing !== undefined)
        throw new Refusal('conflict', `${before.name} has no ${lists[name]} ${missing}.`, {
          hint: `It has: ${before[name].join(', ') || 'none'}.`,
        });
      const kept = before[name].filter((entry) => !removed?.includes(entry));
      return [[name, [...new Set([...kept, ...(added ?? [])])]]];
    }),
  );
}

/** The settings that differ from their defaults. */
export function spareSettings(settings: Partial<ClientSettings>): Partial<ClientSettings> {
  return spare(clientSettings, settings);
}

/** A fault of the settings as a whole, with the field to change, or null. */
export function faultOfSettings(
  settings: Omit<ClientSettings, 'name'>,
): { path: string; message: string } | null {
  const { redirectUris, forwardAuthOrigins, project, role } = settings;
  if (redirectUris.length + forwardAuthOrigins.length === 0)
    return {
      path: 'redirectUris',
      message: 'must have an entry, unless there is an origin for forward auth',
    };
  if (settings.public && !settings.pkce)
    return { path: 'pkce', message: 'must stay on: a public client has no secret' };
  if (project === null && role !== null) return { path: 'role', message: 'needs a project' };
  return null;
}
