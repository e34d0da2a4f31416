import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { hold } from '../../../database/hold.ts';
import { Organization } from '../../../database/models/organization.ts';
import { SignInSettings } from '../../../database/models/sign-in-settings.ts';
import { transaction } from '../../../database/transaction.ts';
import { findVerifiers } from '../../foundation/domain-names/owns.ts';
import { eventAbout, recordEvent } from '../../foundation/events/record.ts';
import { ref } from '../../foundation/fields.ts';
import { operation } from '../../foundation/operation.ts';
import { changing, described } from '../../foundation/settings.ts';
import { type Choices, findGoverningDomain, settingNames, settingsOf } from './governing.ts';
import { findObstacle, switchedMethods } from './methods.ts';
import { requireOwnersLetIn } from './owners.ts';
import { signInWords } from './words.ts';

// The sign-in settings of an organization (spec §2.9).

const refInput = z.strictObject({ org: ref });

const settings = {
  password: z.boolean(),
  passkey: z.boolean(),
  magicCode: z.boolean(),
  google: z.boolean(),
  github: z.boolean(),
  allowSelfSignup: z.boolean(),
  restrictOauthToVerifiedDomains: z.boolean(),
};

export type SignInSettingName = keyof typeof settings;

export const signInSettingsView = z.object(described(settings, signInWords));

export const reachView = z.object({
  governs: z.boolean(),
  obstacles: z
    .partialRecord(z.enum(switchedMethods), z.string())
    .default({})
    .describe('Why the instance cannot offer a method, whatever the settings say.'),
});

const choicesInput = z.strictObject({ org: ref, ...changing(signInSettingsView.shape) });

/** Shows the organization's sign-in settings. An unset setting follows the instance. */
export const showSignInSettings = operation({
  authority: 'signin.see',
  input: refInput,
  output: signInSettingsView,
  run: async (ctx, _input, { organization }) =>
    settingsOf(ctx, (await SignInSettings.findByPk(organization.id)) ?? {}),
});

/**
 * Shows whether the settings govern any address, and which methods the instance cannot offer, to
 * warn the admin who sets them.
 */
export const showReach = operation({
  authority: 'signin.see',
  input: refInput,
  output: reachView,
  run: async (ctx, _input, { organization }) => ({
    governs: !(await governsNoAccount(ctx, organization)),
    obstacles: obstaclesOf(ctx),
  }),
});

function obstaclesOf(ctx: Context) {
  const found = switchedMethods.map((method) => [method, findObstacle(ctx, method)] as const);
  return Object.fromEntries(found.filter(([, why]) => why !== null));
}

/** Saves all sign-in settings. An absent setting follows the instance. */
export const saveSignInSettings = operation({
  authority: 'signin.change',
  input: choicesInput,
  output: signInSettingsView,
  run: (ctx, input, { organization }) =>
    transaction(() => write(ctx, organization, () => choicesIn(input))),
});

/** Saves the given sign-in settings. An absent setting keeps its value. */
export const changeSignInSettings = operation({
  authority: 'signin.change',
  input: choicesInput,
  output: signInSettingsView,
  run: (ctx, input, { organization }) =>
    transaction(() => write(ctx, organization, (stored) => ({ ...stored, ...choicesIn(input) }))),
});

async function write(
  ctx: Context,
  organization: Organization,
  decide: (stored: Choices) => Choices,
) {
  // The second of two changes must see the result of the first.
  await hold.organization({ id: organization.id }, 'alone');
  const row = await SignInSettings.findByPk(organization.id);
  const stored = row === null ? {} : choicesIn(row);
  const choices = decide(stored);
  const [before, after] = [settingsOf(ctx, stored), settingsOf(ctx, choices)];
  await requireOwnersLetIn(ctx, organization, { before, after });
  await row?.destroy();
  await SignInSettings.create({ organizationId: organization.id, ...choices });
  const { id, slug: name } = organization;
  const about = eventAbout('organization', { id, name }, id);
  await recordEvent(ctx, { kind: 'signin.saved', ...about, data: after });
  return after;
}

/** The settings that have a value. */
export function choicesIn(given: { [Name in keyof Choices]: boolean | null | undefined }): Choices {
  const said = settingNames.flatMap((name) => {
    const value = given[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(said);
}

/**
 * The first organization, if its settings no longer govern any account since the operator created a
 * second.
 */
export const findOverruled = operation({
  authority: 'operator',
  input: z.strictObject({}),
  run: async (ctx) => {
    if (ctx.config.orgs.creation === 'anyone') return null;
    const [first, second, third] = await Organization.findAll({ order: ['id'], limit: 3 });
    if (first === undefined || second === undefined || third !== undefined) return null;
    const said = saysSomething(await SignInSettings.findByPk(first.id));
    return said && (await governsNoAccount(ctx, first)) ? first.slug : null;
  },
});

/** Whether an organization has set any sign-in setting of its own. */
export function saysSomething(settings: SignInSettings | null): boolean {
  return settings !== null && settingNames.some((name) => settings[name] !== null);
}

/** Whether the organization does not govern any account: see `findWithoutAccounts`. */
async function governsNoAccount(ctx: Context, { id }: Pick<Organization, 'id'>): Promise<boolean> {
  return (await findWithoutAccounts(ctx, [id])).has(id);
}

/**
 * Those of the organizations that do not govern any account: they have no verified domain, and do
 * not govern as the only organization (security O1).
 */
export async function findWithoutAccounts(ctx: Context, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const without = new Set(ids);
  for (const id of await findVerifiers(ids)) without.delete(id);
  const { organizationId } = await findGoverningDomain(ctx, '');
  if (organizationId !== null) without.delete(organizationId);
  return without;
}
