import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal } from '../../errors.ts';
import type { newTokenView, tokenView } from '../../services/people/tokens/token.ts';
import type { memberTokenView } from '../../services/tenancy/memberships/operations.ts';
import { noun, user, verb } from '../command.ts';
import { type Hiding, make, performSecret } from '../making.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/people/tokens/operations.ts');

type Token = z.output<typeof tokenView>;
type MemberToken = z.output<typeof memberTokenView>;
type NewToken = Hiding<z.output<typeof newTokenView>, 'token'>;

const block: Fields<Token> = [
  ['Name', (view) => view.name],
  ['Description', (view) => view.description],
  ['Kind', (view) => view.kind],
  ['Scope', (view) => view.scope],
  ['Created', (view) => view.createdAt],
  ['Last used', (view) => view.lastUsedAt],
  ['Expires', (view) => view.expiresAt],
  ['ID', (view) => view.id],
];

const made: Fields<NewToken> = [['Token', (view) => view.token], ...block];

const row: Fields<Token> = [
  ['Name', (view) => view.name],
  ['Prefix', (view) => view.prefix, 'whole'],
  ['Scope', (view) => view.scope],
  ['Used', (view) => view.lastUsedAt],
  ['Expires', (view) => (view.suspendedAt === undefined ? view.expiresAt : 'suspended')],
  ['ID', (view) => view.id, 'whole'],
];

const memberRow: Fields<MemberToken> = [['User', ({ user }) => user.email ?? user.name], ...row];

export function addPatCommands(program: Command): void {
  const pat = noun(program, 'pat', {
    summary: 'Personal access tokens',
    example: 'idctl pat list --user ada@example.com',
  });
  verb(pat, 'create', {
    summary: 'Create a token that acts as an account; --quiet prints only the token',
    required: { ...user, '--name <name>': 'the name of the token' },
    options: {
      '--description <text>': 'the purpose of the token',
      '--expires-in-days <days>': '1 to 365 (default: no expiry; for scope admin: 90)',
      '--scope <scope>': 'the scope: read, write (default) or admin',
    },
    makes: true,
    example: 'idctl pat create --user ada@example.com --name backup --scope read',
    run: create,
  });
  verb(pat, 'list', {
    summary: 'List the tokens of an account, or the admin tokens of an organization',
    options: {
      ...user,
      '--org <org>': "list the members' tokens of scope admin in this organization",
    },
    example: 'idctl pat list --user ada@example.com',
    run: list,
  });
  verb(pat, 'regenerate <id>', {
    summary: 'Give a token a new value; the old one stops immediately',
    options: user,
    rehearsable: true,
    example: 'idctl pat regenerate 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 --yes',
    run: async (call) =>
      performSecret(call, (await operations()).regenerateToken.forOperator, {
        fields: made,
        secret: 'token',
        question: ({ name }) =>
          `Give the token ${name} a new value? The old one stops immediately.`,
      }),
  });
  verb(pat, 'revoke <id>', {
    summary: 'Revoke a token for good',
    options: user,
    destroys: true,
    example: 'idctl pat revoke 01991f6e-5c1f-7d0e-8a4b-2f6c1d9e0b37 --yes',
    run: async (call) =>
      call.destroy((await operations()).revokeToken.forOperator, {
        fields: block,
      }),
  });
}

async function list(call: Call): Promise<void> {
  const { org, user } = call.input;
  if (org === undefined) {
    if (user === undefined && call.server === null)
      throw new Refusal('invalid_input', 'Give --user EMAIL or --org ORG.', {
        hint: { technical: 'See idctl pat list --help' },
      });
    const { listTokens } = await operations();
    return call.list(listTokens.forOperator, row, 'There are no tokens.');
  }
  const { listAdminTokens } = await import('../../services/tenancy/memberships/operations.ts');
  await call.list(listAdminTokens, memberRow, 'No member has a token of scope admin.');
}

async function create(call: Call): Promise<void> {
  const { createToken, listTokens } = await operations();
  await make<NewToken>(call, createToken.forOperator, {
    input: { ...call.input, expiresInDays: numeric(call.input['expiresInDays']) },
    fields: made,
    secret: 'token',
    repeats: true,
    find: async ({ user, name }) => {
      const tokens = await call.every(listTokens.forOperator, { user });
      const found = tokens.find((token) => token.name === name && !isExpired(token));
      return found && { ...found, token: null };
    },
    has: (view) => {
      const { description, scope } = view;
      return { description, scope, expiresInDays: daysOf(view) };
    },
  });
}

function isExpired({ expiresAt }: Token): boolean {
  return expiresAt !== null && new Date(expiresAt) <= new Date();
}

/** The lifetime of the token in days; null if it does not expire. */
function daysOf({ createdAt, expiresAt }: NewToken): number | null {
  if (expiresAt === null) return null;
  return Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000);
}

/** Converts digits to a number; the schema refuses anything else. */
function numeric(text: unknown): unknown {
  return typeof text === 'string' && /^-?\d+$/.test(text) ? Number(text) : text;
}
