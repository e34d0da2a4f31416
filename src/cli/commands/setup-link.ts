import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  newSetupLinkView,
  setupLinkView,
} from '../../services/tenancy/setup-links/setup-link.ts';
import { noun, org, verb } from '../command.ts';
import { type Hiding, make } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/setup-links/operations.ts');

type SetupLink = z.output<typeof setupLinkView>;
/** A new link; or an existing one, with null for unknown fields. */
type New = Hiding<z.output<typeof newSetupLinkView>, 'url' | 'mailed' | 'mailLimited'>;

const fields: Fields<SetupLink> = [
  ['For', (view) => view.for],
  ['E-mail', (view) => view.email, 'whole'],
  ['Expires', (view) => view.expiresAt],
  ['State', (view) => view.state],
  ['ID', (view) => view.id, 'whole'],
];

const made: Fields<New> = [['Link', (view) => view.url], ...fields, ['Mail', mailOf]];

function mailOf({ email, mailed, mailLimited }: New): string | null {
  if (mailed === null) return null;
  if (mailed) return 'the daemon sends the link';
  return mailLimited
    ? `not sent: ${email} already got two mails today. Send the link yourself.`
    : 'not sent: send the link yourself';
}

export function addSetupLinkCommands(program: Command): void {
  const setupLink = noun(program, 'setup-link', {
    summary: 'Links with which people without an account set up sign-in',
    example: 'idctl setup-link list --org acme',
  });
  verb(setupLink, 'create', {
    summary: 'Create a link; --quiet prints only its URL',
    detail:
      'The link works in the first browser in which it is opened. An owner has to approve the connections that it saves. It cannot remove anything, and does not show people or events.',
    required: {
      ...org,
      '--for <parts>': 'what to set up: domain, sso, ldap and scim, with commas',
    },
    options: {
      '--expires <duration>': 'how long it lives, from 1m to 30d (default: 7d)',
      '--email <address>': 'mail the link to this address, if mail is set up',
    },
    makes: true,
    example: 'idctl setup-link create --org acme --for domain,sso',
    run: create,
  });
  verb(setupLink, 'list', {
    summary: 'List the links that have not expired',
    required: org,
    example: 'idctl setup-link list --org acme',
    run: async (call) =>
      call.list((await operations()).listSetupLinks, fields, 'There are no setup links.'),
  });
  verb(setupLink, 'revoke <id>', {
    summary: 'Revoke a link, opened or not',
    options: org,
    destroys: true,
    example: 'idctl setup-link revoke 0199c3a4-7c1e-7d55-8d1f-3f0e8a1b2c3d --yes',
    run: async (call) => call.destroy((await operations()).revokeSetupLink, { fields }),
  });
}

async function create(call: Call): Promise<void> {
  const { createSetupLink, listSetupLinks } = await operations();
  await make<New>(call, createSetupLink, {
    fields: made,
    input: { ...call.input, for: String(call.input['for']).split(',') },
    secret: 'url',
    advice: 'Store the link now: it is not shown again.',
    repeats: true,
    // A link for other parts is another link.
    find: async ({ org, for: parts, email = null }) => {
      const found = (await call.every(listSetupLinks, { org })).find(
        (one) => one.email === email && isSame(one.for, parts),
      );
      return found && { ...found, url: null, mailed: null, mailLimited: null };
    },
  });
}

function isSame(parts: string[], given: unknown): boolean {
  return Array.isArray(given) && isDeepStrictEqual(new Set(parts), new Set(given));
}
